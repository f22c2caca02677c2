// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("NameLookup")
struct NameLookupTests {
    @Test("pauses after failures grow from 1 s to 60 s, and begin anew after a success")
    func pauses() throws {
        let lookup = NameLookup([UInt8]("example.com".utf8), try ReachabilityQueue.manual().reactor)
        let expected: [UInt64] = [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]
        #expect(expected.map { _ in lookup.pauseAfterFailure(jitter: 0) } == expected)
        for _ in 0..<1000 { _ = lookup.pauseAfterFailure(jitter: 0) }
        #expect(lookup.pauseAfterFailure(jitter: 0) == 60000)
        lookup.forgetFailures()
        #expect(lookup.pauseAfterFailure(jitter: 0) == 1000)
    }

    @Test("programs that failed together do not ask again together")
    func jitter() throws {
        let reactor = try ReachabilityQueue.manual().reactor
        var random = SeededGenerator(seed: 2)
        var firsts: Set<UInt64> = []
        for _ in 0..<200 {
            let lookup = NameLookup([UInt8]("example.com".utf8), reactor)
            for pause in [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000] as [UInt64] {
                let found = lookup.pauseAfterFailure(jitter: random.next())
                #expect((pause..<pause + pause / 4).contains(found))
                if pause == 1000 { firsts.insert(found) }
            }
        }
        #expect(firsts.count > 50)
    }
}
