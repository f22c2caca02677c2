// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// A window on bytes that came from outside, from which nothing can be read that is not there.
///
/// Every byte of the kernel's is read through this type. Numbers are in the machine's byte order, as rtnetlink's are.
package struct BoundedBytes {
    private let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    package var count: Int { bytes.count }

    package func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, bytes.count - offset >= MemoryLayout<Number>.size else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// A 32-bit length, where Int can hold it.
    package func count(at offset: Int) -> Int? {
        number(at: offset, as: UInt32.self).flatMap { Int(exactly: $0) }
    }

    /// The bytes from an offset on; at most so many.
    package func window(from offset: Int, count limit: Int = .max) -> BoundedBytes? {
        guard offset >= 0, offset <= bytes.count else { return nil }
        let count = min(limit, bytes.count - offset)
        guard count >= 0 else { return nil }
        return BoundedBytes(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }

    package func address(link: UInt32 = 0) -> IPAddress? { IPAddress(networkBytes: bytes, link: link) }

    package func name() -> InterfaceName { InterfaceName(bytes) }
}

/// One netlink message.
package struct Message {
    package static let headerSize = 16

    package let type: UInt16
    package let sequence: UInt32
    package let payload: BoundedBytes

    /// Reads the message at the front of some bytes.
    ///
    /// - Parameter isCut: the bytes are the beginning of a datagram, so that the message may be longer than they are.
    /// - Returns: nil when there is no whole header, or a length that cannot be.
    package init?(_ bytes: BoundedBytes, isCut: Bool = false) {
        guard let length = bytes.count(at: 0), let type = bytes.number(at: 4, as: UInt16.self),
            let sequence = bytes.number(at: 8, as: UInt32.self), length >= Message.headerSize,
            isCut || length <= bytes.count,
            let payload = bytes.window(from: Message.headerSize, count: length - Message.headerSize)
        else { return nil }
        self.type = type
        self.sequence = sequence
        self.payload = payload
    }
}

/// The attributes behind a message's fixed part, or inside another attribute.
///
/// An attribute that claims to be shorter than its header or longer than what is left ends the walk.
package struct AttributeReader {
    package struct Attribute {
        package let type: UInt16
        package let value: BoundedBytes
    }

    private let bytes: BoundedBytes
    private var offset = 0

    package init(_ bytes: BoundedBytes) {
        self.bytes = bytes
    }

    package mutating func next() -> Attribute? {
        guard let length = bytes.number(at: offset, as: UInt16.self),
            let type = bytes.number(at: offset + 2, as: UInt16.self),
            length >= 4, Int(length) <= bytes.count - offset,
            let value = bytes.window(from: offset + 4, count: Int(length) - 4)
        else { return nil }
        offset += (Int(length) + 3) & ~3
        // The two highest bits say "nested" and "network byte order"; neither changes what an attribute is.
        return Attribute(type: type & 0x3fff, value: value)
    }
}
