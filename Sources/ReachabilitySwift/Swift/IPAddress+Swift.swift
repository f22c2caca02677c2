// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Addresses as Swift programs have them: in text, and in the structures of the socket functions.
extension IPAddress {
    /// Reads an address in text.
    ///
    /// - Parameter text: everything that inet_aton or inet_pton accepts, with an optional %link: "192.0.2.1", "127.1",
    ///   "fe80::1%eth0". An IPv4-mapped IPv6 address becomes IPv4.
    /// - Returns: nil for a text that is no address.
    public init?(_ text: String) {
        guard let address = AddressLiteral.parse([UInt8](text.utf8)) else { return nil }
        self = address
    }

    /// Takes the address of an IPv4 socket address; its port does not matter.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    public init(_ address: sockaddr_in) throws(Errno) {
        try self.init(structure: address)
    }

    /// Takes the address and the scope of an IPv6 socket address; its port does not matter.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    public init(_ address: sockaddr_in6) throws(Errno) {
        try self.init(structure: address)
    }

    /// Takes the address of a socket address of either family; its port does not matter.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    public init(_ address: sockaddr_storage) throws(Errno) {
        try self.init(structure: address)
    }

    /// Takes the address of a socket address behind a pointer; its port does not matter.
    ///
    /// - Parameters:
    ///   - address: read during the call.
    ///   - length: bytes behind the pointer: at least 16 for IPv4 and 28 for IPv6, at most 128.
    /// - Throws: invalidArgument for another length, addressFamilyNotSupported for another family.
    public init(_ address: UnsafePointer<sockaddr>, length: socklen_t) throws(Errno) {
        try self.init(socketAddress: UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    private init<Structure>(structure: Structure) throws(Errno) {
        let result = withUnsafeBytes(of: structure) { bytes -> Result<IPAddress, Errno> in
            do throws(Errno) {
                return .success(try IPAddress(socketAddress: bytes))
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }
}

extension IPAddress: Hashable {
    /// Feeds the parts that are compared to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(family)
        hasher.combine(high)
        hasher.combine(low)
        hasher.combine(link)
    }
}

extension IPAddress: LosslessStringConvertible {
    /// The address as inet_ntop writes it, with %link when it is scoped to one.
    public var description: String {
        let address = String(decoding: text, as: UTF8.self)
        return link == 0 ? address : "\(address)%\(linkName ?? String(link))"
    }

    private var linkName: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: InterfaceName.capacity) { buffer in
            guard let start = buffer.baseAddress, if_indextoname(link, start) != nil else { return nil }
            return String(cString: start)
        }
    }
}
