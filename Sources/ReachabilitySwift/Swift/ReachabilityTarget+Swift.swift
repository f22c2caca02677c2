// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

extension ReachabilityTarget {
    /// Makes a target for the internet at large: is there a path to it, over IPv4 or IPv6?
    ///
    /// Each use makes another one. Asking one again costs a fraction of asking a new one.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress for the zero address.
    public static var internet: ReachabilityTarget { ReachabilityTarget(.internet) }

    /// Makes a target for a host name, or for an address in text.
    ///
    /// - Parameter host: "0.0.0.0" is the internet at large. Whatever is no address is taken for a name, however
    ///   malformed; see isValid(host:). It is looked up only while it is scheduled, waited for or monitored.
    /// - Throws: invalidArgument when it is empty or holds a NUL.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithName.
    public convenience init(host: String) throws(Errno) {
        self.init(try Destination(name: [UInt8](host.utf8)))
    }

    /// Makes a target for an address; the zero address of either family is the internet at large.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress.
    public convenience init(address: IPAddress) {
        self.init(Destination(address: address))
    }

    /// Makes a target for the address of an IPv4 socket address; its port does not matter.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress.
    public convenience init(address: sockaddr_in) throws(Errno) {
        self.init(address: try IPAddress(address))
    }

    /// Makes a target for the address of an IPv6 socket address; its port does not matter, its scope selects the link.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress.
    public convenience init(address: sockaddr_in6) throws(Errno) {
        self.init(address: try IPAddress(address))
    }

    /// Makes a target for the address of a socket address of either family; its port does not matter.
    ///
    /// - Throws: addressFamilyNotSupported when its family field says neither IPv4 nor IPv6.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress.
    public convenience init(address: sockaddr_storage) throws(Errno) {
        self.init(address: try IPAddress(address))
    }

    /// Makes a target for a socket address behind a pointer; its port does not matter.
    ///
    /// - Parameters:
    ///   - address: read during the call.
    ///   - length: bytes behind the pointer: at least 16 for IPv4 and 28 for IPv6, at most 128.
    /// - Throws: invalidArgument for another length, addressFamilyNotSupported for another family.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddress.
    public convenience init(address: UnsafePointer<sockaddr>, length: socklen_t) throws(Errno) {
        self.init(address: try IPAddress(address, length: length))
    }

    /// Makes a target for a local and a remote address: can a socket bound to the local one reach the remote one?
    ///
    /// The families may differ. The zero address has no special meaning here: as the local one it means "any".
    ///
    /// - Parameters:
    ///   - local: nil, or the address that a socket is bound to.
    ///   - remote: nil, or the address that it is to reach; not both are nil.
    /// - Throws: invalidArgument when both are nil.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddressPair.
    public convenience init(local: IPAddress?, remote: IPAddress?) throws(Errno) {
        self.init(try Destination(local: local, remote: remote))
    }

    /// Makes a target for a local and a remote IPv4 socket address.
    ///
    /// - Parameters:
    ///   - local: nil, or the address that a socket is bound to.
    ///   - remote: nil, or the address that it is to reach; not both are nil.
    /// - Throws: invalidArgument when both are nil, addressFamilyNotSupported when a family field says neither IPv4 nor
    ///   IPv6.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddressPair.
    public convenience init(local: sockaddr_in?, remote: sockaddr_in?) throws(Errno) {
        let local = if let local { try IPAddress(local) } else { nil as IPAddress? }
        let remote = if let remote { try IPAddress(remote) } else { nil as IPAddress? }
        try self.init(local: local, remote: remote)
    }

    /// Makes a target for a local and a remote IPv6 socket address.
    ///
    /// - Parameters:
    ///   - local: nil, or the address that a socket is bound to.
    ///   - remote: nil, or the address that it is to reach; not both are nil.
    /// - Throws: invalidArgument when both are nil, addressFamilyNotSupported when a family field says neither IPv4 nor
    ///   IPv6.
    ///
    /// Mirrors SCNetworkReachabilityCreateWithAddressPair.
    public convenience init(local: sockaddr_in6?, remote: sockaddr_in6?) throws(Errno) {
        let local = if let local { try IPAddress(local) } else { nil as IPAddress? }
        let remote = if let remote { try IPAddress(remote) } else { nil as IPAddress? }
        try self.init(local: local, remote: remote)
    }

    /// Whether a text is a well-formed host name or address, to catch the commonest mistake, which is to hand in a URL.
    ///
    /// - Parameter host: valid are the letters, digits and hyphens of RFC 1123 in labels joined by dots, and addresses
    ///   in text.
    /// - Returns: false for "https://example.com", "example.com:80", blanks, underscores, empty labels, and other than
    ///   ASCII letters, whose xn-- form is to be used.
    public static func isValid(host: String) -> Bool {
        HostName.isValid([UInt8](host.utf8))
    }

    /// Sets, replaces or removes what is called on a change; takes effect with the next delivery, and causes none.
    ///
    /// - Parameter callback: called on the target's queue with the target and its flags, when the flags changed or the
    ///   link that a packet would leave by; nil removes the one there is. Everything is allowed in it. What it captured
    ///   is let go after the last call.
    ///
    /// Mirrors SCNetworkReachabilitySetCallback.
    public func setCallback(_ callback: (@Sendable (ReachabilityTarget, ReachabilityFlags) -> Void)?) {
        replaceCallback(callback)
    }

    /// Waits on the calling thread until the target is online, or until the time is over.
    ///
    /// - Parameter timeout: rounded up to milliseconds; zero does not wait, nil waits for ever.
    /// - Returns: the flags behind the answer: online, or offline because the time is over.
    /// - Throws: the error by which the kernel could not be asked.
    @available(*, noasync, message: "blocks its thread; use confirm(timeout:)")
    public func wait(timeout: Duration?) throws(Errno) -> ReachabilityFlags {
        try wait(timeout: Timeout.milliseconds(timeout)).flags
    }
}

extension ReachabilityTarget: CustomStringConvertible {
    /// What is asked about, in words: "the internet", "192.0.2.1", "192.0.2.1 to 198.51.100.1", "example.com".
    public var description: String {
        switch destination {
        case .internet: return "the internet"
        case .address(let address): return address.description
        case .pair(let local, let remote):
            return [local?.description ?? "any", remote?.description ?? "any"].joined(separator: " to ")
        case .localhost(let name), .name(let name): return String(decoding: name, as: UTF8.self)
        }
    }
}

extension ReachabilityQueue {
    /// Makes a queue with a thread of its own.
    ///
    /// - Parameter label: names the thread in debuggers, cut to 15 bytes.
    /// - Throws: the error of the system call that failed.
    ///
    /// Mirrors DispatchQueue(label:).
    public static func threaded(label: String = "reach") throws(Errno) -> ReachabilityQueue {
        try threaded(label: [UInt8](label.utf8.prefix { $0 != 0 }))
    }
}

/// Times as the core takes them.
enum Timeout {
    /// Milliseconds, rounded up: 0 for what is over, -1 for nil and for what is longer than some 24 days.
    static func milliseconds(_ timeout: Duration?) -> Int32 {
        guard let timeout else { return -1 }
        let (seconds, attoseconds) = timeout.components
        if seconds < 0 || attoseconds < 0 { return 0 }
        guard seconds < Int64(Int32.max) / 1000 else { return -1 }
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
