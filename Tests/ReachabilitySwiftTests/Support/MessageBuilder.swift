// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// Bytes as the kernel writes them: messages, their fixed parts, and attributes.
struct MessageBuilder {
    private(set) var bytes: [UInt8] = []

    /// A whole message around a payload. A lie about its length can be told.
    static func message(
        type: some BinaryInteger, sequence: UInt32 = 1, payload: [UInt8], length: UInt32? = nil
    ) -> [UInt8] {
        var builder = MessageBuilder()
        builder.append(length ?? UInt32(Message.headerSize + payload.count))
        builder.append(UInt16(type))
        builder.append(UInt16(0))
        builder.append(sequence)
        builder.append(UInt32(0))
        builder.bytes += payload
        return builder.bytes
    }

    /// A route message's fixed part.
    static func routeHeader(
        family: some BinaryInteger, length: UInt8 = 0, type: some BinaryInteger = RTN_UNICAST
    ) -> [UInt8] {
        [UInt8(family), length, 0, 0, 0, 0, 0, UInt8(type), 0, 0, 0, 0]
    }

    /// A link message's fixed part.
    static func linkHeader(hardwareType: UInt16 = 1, index: UInt32, flags: UInt32 = 0) -> [UInt8] {
        var builder = MessageBuilder()
        builder.append(UInt16(0))
        builder.append(hardwareType)
        builder.append(index)
        builder.append(flags)
        builder.append(UInt32(0))
        return builder.bytes
    }

    /// An attribute with its padding. A lie about its length can be told.
    static func attribute(_ type: some BinaryInteger, _ value: [UInt8], length: UInt16? = nil) -> [UInt8] {
        var builder = MessageBuilder()
        builder.append(length ?? UInt16(4 + value.count))
        builder.append(UInt16(type))
        builder.bytes += value
        while builder.bytes.count % 4 != 0 { builder.bytes.append(0) }
        return builder.bytes
    }

    static func attribute(_ type: some BinaryInteger, _ number: UInt32) -> [UInt8] {
        var builder = MessageBuilder()
        builder.append(number)
        return attribute(type, builder.bytes)
    }

    static func attribute(_ type: some BinaryInteger, _ address: IPAddress) -> [UInt8] {
        attribute(type, (0..<address.byteCount).map { address.byte($0) })
    }

    /// An event about routes to a prefix, as the kernel sends it.
    static func routeEvent(
        _ prefix: IPAddress, length: Int, type: some BinaryInteger = RTM_NEWROUTE, before: [UInt8] = []
    ) -> [UInt8] {
        var payload = routeHeader(family: prefix.family.rawValue, length: UInt8(length))
        payload += before
        if length > 0 { payload += attribute(RTA_DST.rawValue, prefix) }
        payload += attribute(RTA_OIF.rawValue, UInt32(3))
        return message(type: type, payload: payload)
    }

    static func join(_ parts: [UInt8]...) -> [UInt8] {
        parts.flatMap { $0 }
    }

    mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number) { bytes += [UInt8]($0) }
    }
}

/// Hands bytes to a reader.
func withBytes<Result>(_ bytes: [UInt8], _ body: (BoundedBytes) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { try body(BoundedBytes($0)) }
}

/// The address in a text, which is one.
func address(_ text: String) -> IPAddress {
    guard let address = IPAddress(text) else { fatalError("\(text) is no address") }
    return address
}
