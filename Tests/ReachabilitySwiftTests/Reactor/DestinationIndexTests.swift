// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("DestinationIndex")
struct DestinationIndexTests {
    @Test("hands out each address of a prefix, once, and no other", arguments: 1...4 as ClosedRange<UInt64>)
    func agrees(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let entries = (0..<Int.random(in: 0..<60, using: &random)).map { slot in
                // From a small range, so that many are equal or near.
                let low = UInt64.random(in: 0...31, using: &random)
                let address =
                    Bool.random(using: &random)
                    ? IPAddress(v4: 0xc000_0200 + UInt32(low))
                    : IPAddress(v6High: 0x2001_0db8_0000_0000, low: low << 60)
                return DestinationIndex.Entry(address: address, slot: slot - 1)
            }
            var index = DestinationIndex()
            index.rebuild(entries)
            for _ in 0..<40 {
                let low = UInt64.random(in: 0...31, using: &random)
                let prefix =
                    Bool.random(using: &random)
                    ? IPAddress(v4: 0xc000_0200 + UInt32(low))
                    : IPAddress(v6High: 0x2001_0db8_0000_0000, low: low << 60)
                let length = Int.random(in: 0...prefix.family.bitWidth, using: &random)
                var found: [Int] = []
                index.forEach(prefix: prefix, length: length) { found.append($0) }
                let expected = entries.filter { $0.address.matches(prefix, prefixLength: length) }.map(\.slot)
                #expect(found.sorted() == expected.sorted())
            }
        }
    }

    @Test("an address on a link is found by its prefix")
    func scoped() {
        var index = DestinationIndex()
        index.rebuild([.init(address: address("fe80::1%lo"), slot: 4)])
        var found: [Int] = []
        index.forEach(prefix: address("fe80::"), length: 64) { found.append($0) }
        #expect(found == [4])
    }
}
