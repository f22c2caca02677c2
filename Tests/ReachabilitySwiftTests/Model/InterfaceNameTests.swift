// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("InterfaceName")
struct InterfaceNameTests {
    private func name(_ bytes: [UInt8]) -> InterfaceName { bytes.withUnsafeBytes { InterfaceName($0) } }

    @Test("holds what a link's name can be")
    func content() {
        #expect(InterfaceName().bytes.isEmpty)
        #expect(name([]).bytes.isEmpty)
        #expect(name([UInt8]("eth0".utf8)).bytes == [UInt8]("eth0".utf8))
        let longest = [UInt8]("abcdefghijklmno".utf8)
        #expect(name(longest).bytes == longest)
        #expect(name(longest + [UInt8]("p".utf8)).bytes == longest)
        #expect(name([97, 0, 98]).bytes == [97])
    }

    @Test("is compared byte by byte")
    func comparison() {
        let eth = name([UInt8]("eth0".utf8))
        #expect(eth.equals("eth0"))
        #expect(!eth.equals("eth"))
        #expect(!eth.equals("eth00"))
        #expect(!eth.equals("a name that is far too long"))
        #expect(InterfaceName().equals(""))
        #expect(eth == name([UInt8]("eth0\u{0}rest".utf8)))
        #expect(eth != name([UInt8]("eth1".utf8)))
    }
}
