// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// An answer with everything that is known about the way a packet would take.
///
/// Mirrors struct reach_path of the C header.
public struct ReachabilityPath: Equatable, Sendable {
    /// The link that a packet would leave by.
    public struct Interface: Equatable, Sendable {
        /// The name it has now, such as "eth0".
        public let name: String
        /// The kernel's number for it.
        public let index: UInt32
        /// What it is.
        public let kind: LinkKind
    }

    /// The flags, as ReachabilityTarget.flags() gives them.
    public let flags: ReachabilityFlags
    /// Why they are what they are.
    public let reason: ReachabilityReason
    /// The link that a packet would leave by; nil when there is none.
    public let interface: Interface?
    /// The next hop's address; nil when the destination is on the link.
    public let gateway: IPAddress?
    /// The address of this machine that the kernel would choose.
    public let source: IPAddress?
    /// The address that was judged: of a name, the best; of the internet at large, a probe.
    public let destination: IPAddress?
    /// Whether the target can be reached by IPv4.
    public let supportsIPv4: Bool
    /// Whether the target can be reached by IPv6.
    public let supportsIPv6: Bool
    /// Grows when the network of this process changed between two questions.
    public let generation: UInt64

    init(_ verdict: Verdict, generation: UInt64) {
        flags = verdict.flags
        reason = verdict.reason
        let path = verdict.path
        if path.link == 0 {
            interface = nil
        } else {
            let name = String(decoding: path.linkName.bytes, as: UTF8.self)
            interface = Interface(name: name, index: path.link, kind: path.linkKind)
        }
        gateway = path.gateway
        source = path.source
        destination = path.destination
        supportsIPv4 = verdict.isUsableByV4
        supportsIPv6 = verdict.isUsableByV6
        self.generation = generation
    }
}

extension ReachabilityPath: CustomStringConvertible {
    /// The flags, and the way or the reason why there is none: "Reachable via 192.0.2.1 dev eth0 src 192.0.2.7".
    public var description: String {
        var words = [flags.description]
        if reason != .reachable { words.append("(\(reason))") }
        if let gateway { words.append("via \(gateway)") }
        if let interface { words.append("dev \(interface.name)") }
        if let source { words.append("src \(source)") }
        return words.joined(separator: " ")
    }
}

extension ReachabilityTarget {
    /// The answer now, with its path and its reason; never waits, never looks a name up.
    ///
    /// - Throws: the error of the system call by which the kernel could not be asked.
    ///
    /// Mirrors reach_get_path.
    public func path() throws(Errno) -> ReachabilityPath {
        let (verdict, generation) = try self.verdict()
        return ReachabilityPath(verdict, generation: generation)
    }
}
