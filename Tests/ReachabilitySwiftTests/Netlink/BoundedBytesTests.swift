// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("BoundedBytes")
struct BoundedBytesTests {
    @Test("reads numbers that are there, and no others")
    func numbers() {
        withBytes([1, 2, 3, 4, 5]) { bytes in
            #expect(bytes.count == 5)
            #expect(bytes.number(at: 0, as: UInt8.self) == 1)
            #expect(bytes.number(at: 4, as: UInt8.self) == 5)
            #expect(bytes.number(at: 1, as: UInt32.self) == UInt32(littleEndian: 0x0504_0302))
            for offset in [2, 5, 6, -1, Int.max, Int.min] {
                #expect(bytes.number(at: offset, as: UInt32.self) == nil)
            }
            #expect(bytes.number(at: 5, as: UInt8.self) == nil)
            #expect(bytes.number(at: 0, as: UInt64.self) == nil)
        }
        withBytes([]) { #expect($0.number(at: 0, as: UInt8.self) == nil) }
    }

    @Test("gives windows on what is there")
    func windows() {
        withBytes([1, 2, 3, 4, 5]) { bytes in
            #expect(bytes.window(from: 0)?.count == 5)
            #expect(bytes.window(from: 5)?.count == 0)
            #expect(bytes.window(from: 6) == nil)
            #expect(bytes.window(from: -1) == nil)
            #expect(bytes.window(from: 2, count: 2)?.count == 2)
            #expect(bytes.window(from: 2, count: 100)?.count == 3)
            #expect(bytes.window(from: 2, count: -1) == nil)
            let inner = bytes.window(from: 2, count: 2)
            #expect(inner?.number(at: 0, as: UInt8.self) == 3)
            #expect(inner?.number(at: 2, as: UInt8.self) == nil)
            #expect(inner?.number(at: -2, as: UInt8.self) == nil)
        }
    }

    @Test("an address has four or sixteen bytes")
    func addresses() {
        for count in 0...20 {
            withBytes([UInt8](repeating: 1, count: count)) { bytes in
                #expect((bytes.address() != nil) == (count == 4 || count == 16))
            }
        }
        withBytes([192, 0, 2, 1]) { #expect($0.address(link: 3) == IPAddress(v4: 0xc000_0201, link: 3)) }
    }
}
