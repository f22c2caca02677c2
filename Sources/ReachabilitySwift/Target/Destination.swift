// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// What a target asks about, and how that becomes questions to the kernel and their verdicts an answer.
package enum Destination: Sendable {
    /// The internet at large, by either family.
    case internet
    case address(IPAddress)
    /// One of both is not nil.
    case pair(local: IPAddress?, remote: IPAddress?)
    /// This machine, without any look-up. The name is kept for showing it.
    case localhost([UInt8])
    /// A host name, without a NUL.
    case name([UInt8])

    package init(address: IPAddress) {
        self = address.isUnspecified ? .internet : .address(address)
    }

    /// A local address in 127/8 says nothing about a remote one outside: it is left out, as on macOS.
    package init(local: IPAddress?, remote: IPAddress?) throws(Errno) {
        guard local != nil || remote != nil else { throw Errno.invalidArgument }
        if let local, let remote, local.isLoopbackV4, !remote.isLoopbackV4 {
            self = .address(remote)
        } else {
            self = .pair(local: local, remote: remote)
        }
    }

    package init(name: [UInt8]) throws(Errno) {
        guard !name.isEmpty, !name.contains(0) else { throw Errno.invalidArgument }
        if let address = try AddressLiteral.read(name) {
            self.init(address: address)
        } else {
            self = HostName.isLocalhost(name) ? .localhost(name) : .name(name)
        }
    }

    /// Names are owed a callback when they are scheduled.
    package var isName: Bool {
        switch self {
        case .name, .localhost: return true
        case .internet, .address, .pair: return false
        }
    }

    /// The name to look up, if there is one.
    package var hostToResolve: [UInt8]? {
        if case .name(let host) = self { return host }
        return nil
    }

    /// Whether the verdict on the internet at large has a part in the answer.
    package var dependsOnInternet: Bool {
        switch self {
        case .internet, .name: return true
        case .address, .pair, .localhost: return false
        }
    }

    /// Destinations that stand for the internet at large: one in each half of the IPv4 addresses and of 2000::/3, so
    /// that a VPN that routes halves counts, and so does a router with a full table and no default route. They must be
    /// addresses that every full table has and that nobody routes for their own sake, as is done with well-known name
    /// servers. No packet is ever sent to them.
    package static var internetProbes: [RouteQuestion] {
        [
            RouteQuestion(destination: IPAddress(v4: 0x4900_0001)),  // 73.0.0.1, an access provider's
            RouteQuestion(destination: IPAddress(v4: 0xc629_0004)),  // 198.41.0.4, a root name server
            RouteQuestion(destination: IPAddress(v6High: 0x2001_0503_ba3e_0000, low: 0x2_0030)),  // the same one's
            RouteQuestion(destination: IPAddress(v6High: 0x3000_0000_0000_0000, low: 1)),
        ]
    }

    /// The questions beside those about the internet.
    package func appendQuestions(resolution: Resolution, to questions: inout [RouteQuestion]) {
        switch self {
        case .internet: break
        case .address(let address): questions.append(RouteQuestion(destination: address))
        case .pair(let local, let remote):
            let bound = local.flatMap { $0.isUnspecified ? nil : $0 }
            if let local = bound ?? (remote == nil ? local : nil) {
                questions.append(RouteQuestion(destination: local))
            }
            if let remote {
                // A socket that is bound to a link-local address is bound to its link.
                let link = remote.link == 0 && bound?.isLinkLocalV6 == true ? bound?.link ?? 0 : 0
                questions.append(
                    RouteQuestion(destination: remote, source: sameFamily(bound, remote), link: link))
            }
        case .localhost:
            questions.append(RouteQuestion(destination: .loopbackV4))
            questions.append(RouteQuestion(destination: .loopbackV6))
        case .name:
            if case .addresses(let addresses) = resolution {
                for address in addresses { questions.append(RouteQuestion(destination: address)) }
            }
        }
    }

    private func sameFamily(_ source: IPAddress?, _ destination: IPAddress) -> IPAddress? {
        source?.family == destination.family ? source?.unscoped : nil
    }

    private func refused(_ reason: ReachabilityReason, _ address: IPAddress) -> Verdict {
        var verdict = Verdict(reason: reason)
        verdict.path.destination = address
        return verdict
    }

    /// The answer.
    ///
    /// - Parameters:
    ///   - verdicts: one for each question that appendQuestions wrote, in their order.
    ///   - internet: the verdict on the internet at large; looked at only where dependsOnInternet says so.
    package func verdict(_ verdicts: ArraySlice<Verdict>, internet: Verdict, resolution: Resolution) -> Verdict {
        switch self {
        case .internet: return internet
        case .address: return verdicts.first ?? Verdict()
        case .localhost: return Verdict.best(verdicts) ?? Verdict()
        case .pair(let local, let remote):
            if let local, !local.isUnspecified, let first = verdicts.first, !first.flags.contains(.isLocalAddress) {
                return refused(.notLocal, local)
            }
            if let local, let remote, local.isLinkLocalV6, local.link != 0, remote.link != 0, local.link != remote.link
            {
                return refused(.noRoute, remote)
            }
            return (remote == nil ? verdicts.first : verdicts.last) ?? Verdict()
        case .name:
            // Without a path there is none to any host, whatever its addresses.
            if internet.flags.isEmpty { return internet }
            switch resolution {
            case .none:
                var optimistic = internet
                optimistic.reason = .notResolved
                return optimistic
            case .addresses:
                var best = Verdict.best(verdicts) ?? Verdict(reason: .nameNotFound)
                best.expiry = min(best.expiry, internet.expiry)
                return best
            case .notFound: return Verdict(reason: .nameNotFound)
            case .failed: return Verdict(reason: .resolverFailed)
            }
        }
    }
}

/// What is known of a name's addresses.
package enum Resolution: Equatable, Sendable {
    /// It was not looked up.
    case none
    /// In the resolver's order of preference; not empty.
    case addresses([IPAddress])
    /// There is no such name.
    case notFound
    /// The resolver failed or timed out.
    case failed
}
