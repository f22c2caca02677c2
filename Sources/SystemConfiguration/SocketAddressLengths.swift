// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// BSD's addresses begin with a length, Linux's do not: it always is the family's. Code from macOS assigns it all the
// same, and names it when it makes an address, so that both have to compile. What is assigned is not kept anywhere.
//
// The bytes of the initialisers are signed, as char is on every Mac.

extension sockaddr {
    /// The length that the family has; assigning it does nothing.
    public var sa_len: UInt8 {
        get { SocketAddress.length(family: sa_family) }
        set {}
    }

    /// All members, as on macOS. The length is not looked at.
    public init(
        sa_len: UInt8, sa_family: sa_family_t,
        sa_data: (Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8)
    ) {
        self.init()
        self.sa_family = sa_family
        SocketAddress.copy(sa_data, to: &self.sa_data)
    }
}

extension sockaddr_in {
    /// The length that an IPv4 address has; assigning it does nothing.
    public var sin_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in>.size) }
        set {}
    }

    /// All members, as on macOS. The length is not looked at.
    public init(
        sin_len: UInt8, sin_family: sa_family_t, sin_port: in_port_t, sin_addr: in_addr,
        sin_zero: (Int8, Int8, Int8, Int8, Int8, Int8, Int8, Int8)
    ) {
        self.init()
        self.sin_family = sin_family
        self.sin_port = sin_port
        self.sin_addr = sin_addr
        SocketAddress.copy(sin_zero, to: &self.sin_zero)
    }
}

extension sockaddr_in6 {
    /// The length that an IPv6 address has; assigning it does nothing.
    public var sin6_len: UInt8 {
        get { UInt8(MemoryLayout<sockaddr_in6>.size) }
        set {}
    }

    /// All members, as on macOS. The length is not looked at.
    public init(
        sin6_len: UInt8, sin6_family: sa_family_t, sin6_port: in_port_t, sin6_flowinfo: UInt32, sin6_addr: in6_addr,
        sin6_scope_id: UInt32
    ) {
        self.init()
        self.sin6_family = sin6_family
        self.sin6_port = sin6_port
        self.sin6_flowinfo = sin6_flowinfo
        self.sin6_addr = sin6_addr
        self.sin6_scope_id = sin6_scope_id
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

    /// From one tuple of bytes to another, of whichever sign.
    static func copy<Source, Destination>(_ source: Source, to destination: inout Destination) {
        withUnsafeMutableBytes(of: &destination) { destination in
            withUnsafeBytes(of: source) { destination.copyMemory(from: $0) }
        }
    }

    /// The bytes of an address. Its family says how many they are: no more than those may be read, as there can be less
    /// memory behind a pointer than the largest address has.
    static func bytes(_ address: UnsafePointer<sockaddr>) -> UnsafeRawBufferPointer {
        let family = UnsafeRawPointer(address).loadUnaligned(as: sa_family_t.self)
        return UnsafeRawBufferPointer(start: address, count: Int(length(family: family)))
    }
}
