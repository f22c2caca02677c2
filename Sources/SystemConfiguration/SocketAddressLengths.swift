// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// BSD's addresses begin with a length, Linux's do not: it always is the family's. Code from macOS assigns it all the
// same, so that the assignment has to compile. What is assigned is not kept anywhere.

extension sockaddr {
    /// The length that the family has; assigning it does nothing.
    public var sa_len: UInt8 {
        get { SocketAddress.length(family: sa_family) }
        set {}
    }
}

extension sockaddr_in {
    /// The length that an IPv4 address has; assigning it does nothing.
    public var sin_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in>.size) }
        set {}
    }
}

extension sockaddr_in6 {
    /// The length that an IPv6 address has; assigning it does nothing.
    public var sin6_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in6>.size) }
        set {}
    }
}

extension sockaddr_storage {
    /// The length that the family has; assigning it does nothing.
    public var ss_len: UInt8 {
        get { SocketAddress.length(family: ss_family) }
        set {}
    }
}

enum SocketAddress {
    static func length(family: sa_family_t) -> UInt8 {
        switch Int32(family) {
        case AF_INET: return UInt8(MemoryLayout<sockaddr_in>.size)
        case AF_INET6: return UInt8(MemoryLayout<sockaddr_in6>.size)
        default: return UInt8(MemoryLayout<sockaddr>.size)
        }
    }

    /// The bytes of an address. Its family says how many they are: no more than those may be read, as there can be less
    /// memory behind a pointer than the largest address has.
    static func bytes(_ address: UnsafePointer<sockaddr>) -> UnsafeRawBufferPointer {
        let family = UnsafeRawPointer(address).loadUnaligned(as: sa_family_t.self)
        return UnsafeRawBufferPointer(start: address, count: Int(length(family: family)))
    }
}
