// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

@Suite("MessageReader")
struct MessageReaderTests {
    @Test("reads a header")
    func header() throws {
        let bytes = MessageBuilder.message(type: 24, sequence: 0xdead_beef, payload: [1, 2, 3, 4, 5])
        try withBytes(bytes) { bytes in
            let message = try #require(Message(bytes))
            #expect(message.type == 24)
            #expect(message.sequence == 0xdead_beef)
            #expect(message.payload.count == 5)
        }
    }

    @Test("what follows a message is not its payload")
    func trailing() {
        let bytes = MessageBuilder.message(type: 24, payload: [1, 2, 3, 4]) + [9, 9, 9, 9]
        withBytes(bytes) { #expect(Message($0)?.payload.count == 4) }
    }

    @Test("a header that is not whole is none", arguments: 0..<16)
    func short(count: Int) {
        let bytes = MessageBuilder.message(type: 24, payload: [])
        withBytes([UInt8](bytes[..<count])) { bytes in
            #expect(Message(bytes) == nil)
            #expect(Message(bytes, isCut: true) == nil)
        }
    }

    @Test("a length shorter than the header cannot be", arguments: [0, 1, 15] as [UInt32])
    func tooShort(length: UInt32) {
        let bytes = MessageBuilder.message(type: 24, payload: [1, 2, 3, 4], length: length)
        withBytes(bytes) { bytes in
            #expect(Message(bytes) == nil)
            #expect(Message(bytes, isCut: true) == nil)
        }
    }

    @Test("a length beyond the bytes is believed only of a datagram that was cut", arguments: [21, 1000, UInt32.max])
    func tooLong(length: UInt32) {
        let bytes = MessageBuilder.message(type: 24, payload: [1, 2, 3, 4], length: length)
        withBytes(bytes) { bytes in
            #expect(Message(bytes) == nil)
            #expect(Message(bytes, isCut: true)?.payload.count == 4)
        }
    }
}

@Suite("AttributeReader")
struct AttributeReaderTests {
    private func read(_ bytes: [UInt8]) -> [(type: UInt16, count: Int)] {
        withBytes(bytes) { bytes in
            var found: [(type: UInt16, count: Int)] = []
            var reader = AttributeReader(bytes)
            while let attribute = reader.next() { found.append((attribute.type, attribute.value.count)) }
            return found
        }
    }

    @Test("walks over attributes and their padding")
    func walk() {
        let found = read(
            MessageBuilder.join(
                MessageBuilder.attribute(1, [1, 2, 3, 4, 5]), MessageBuilder.attribute(2, []),
                MessageBuilder.attribute(3, [1, 2, 3, 4])))
        #expect(found.map(\.type) == [1, 2, 3])
        #expect(found.map(\.count) == [5, 0, 4])
    }

    @Test("the last one needs no padding")
    func unpadded() {
        #expect(read([5, 0, 1, 0, 7]).map(\.count) == [1])
    }

    @Test("the bits for nesting and byte order are no part of the type")
    func flags() {
        #expect(read(MessageBuilder.attribute(0x8000 | 0x4000 | 7, [1, 2, 3, 4])).map(\.type) == [7])
    }

    @Test("a length shorter than its header ends the walk", arguments: [0, 1, 2, 3] as [UInt16])
    func tooShort(length: UInt16) {
        let bytes = MessageBuilder.attribute(1, [1, 2, 3, 4]) + MessageBuilder.attribute(2, [1], length: length)
        #expect(read(bytes).map(\.type) == [1])
    }

    @Test("a length beyond the bytes ends the walk", arguments: [9, 100, 0xffff] as [UInt16])
    func tooLong(length: UInt16) {
        let bytes =
            MessageBuilder.attribute(1, [1, 2, 3, 4]) + MessageBuilder.attribute(2, [1, 2, 3, 4], length: length)
        #expect(read(bytes).map(\.type) == [1])
    }

    @Test("half a header is nothing", arguments: 1..<4)
    func half(count: Int) {
        #expect(read(MessageBuilder.attribute(1, []) + [UInt8](repeating: 4, count: count)).map(\.type) == [1])
    }
}
