// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// From the kernel's answers to a verdict: a pure function, with no sockets and no memory.
package enum FlagEvaluator {
    /// How often the way over a link that is down is asked for again, in milliseconds.
    private static let deadLinkPeriod: UInt64 = 5000

    /// Judges one answer.
    ///
    /// - Parameters:
    ///   - question: what was asked.
    ///   - answer: what the kernel said.
    ///   - link: the link that the answer names, or for a refusal the one that the question was bound to; nil when
    ///   there is no such link.
    ///   - now: the time on the monotonic clock, for routes that go by themselves.
    /// - Throws: an error number that does not say "no", but that the kernel could not tell.
    package static func verdict(
        _ question: RouteQuestion, _ answer: RouteAnswer, link: Link?, now: UInt64
    ) throws(Errno) -> Verdict {
        let route: Route
        switch answer {
        case .failure(let error): return try refusal(error, question, link)
        case .route(let found): route = found
        }

        var verdict = Verdict()
        verdict.path.destination = question.destination
        verdict.path.gateway = route.gateway
        verdict.path.source = question.source ?? route.source
        verdict.path.link = route.link
        if let link {
            verdict.path.linkName = link.name
            verdict.path.linkKind = link.kind
        }
        // A little later than the kernel says, which counts in ticks: too early would find the route at its last tick.
        if let lifetime = route.lifetime {
            verdict.expiry = Deadline(nanoseconds: now).advanced(byMilliseconds: lifetime + 20)
        }

        switch Int(route.type) {
        case Int(RTN_LOCAL):
            verdict.flags = [.reachable, .isLocalAddress, .isDirect]
            verdict.reason = .reachable
            noteFamily(&verdict, question)
            return verdict
        case Int(RTN_UNICAST), Int(RTN_MULTICAST), Int(RTN_BROADCAST), Int(RTN_ANYCAST): break
        case Int(RTN_UNREACHABLE): return refused(verdict, .unreachable)
        case Int(RTN_PROHIBIT): return refused(verdict, .prohibited)
        case Int(RTN_BLACKHOLE): return refused(verdict, .blackhole)
        default: return refused(verdict, .noRoute)
        }

        guard let link else { return refused(verdict, .noLink) }
        if !link.isUsable {
            guard link.isDormant else {
                // The kernel turns away from a router that does not answer, without a word; so it is asked again.
                verdict.expiry = min(
                    verdict.expiry, Deadline(nanoseconds: now).advanced(byMilliseconds: deadLinkPeriod))
                return refused(verdict, reasonForBeingDown(link))
            }
            verdict.flags = [.reachable, .transientConnection, .connectionRequired]
            if link.kind == .ppp { verdict.flags.insert(.connectionOnTraffic) }
            if link.kind == .cellular { verdict.flags.insert(.isWWAN) }
            verdict.reason = .dormant
            return verdict
        }
        guard hasUsableSource(question, verdict.path.source) else { return refused(verdict, .noSource) }

        verdict.flags = [.reachable]
        verdict.reason = .reachable
        if link.isPointToPoint { verdict.flags.insert(.transientConnection) }
        if link.kind == .cellular { verdict.flags.formUnion([.isWWAN, .transientConnection]) }
        let isOnLink = !route.hasGateway && !link.isPointToPoint
        let isLinkLocal = question.destination.isLinkLocalV4 && (link.kind == .ethernet || link.kind == .wifi)
        if isOnLink || isLinkLocal { verdict.flags.insert(.isDirect) }
        noteFamily(&verdict, question)
        return verdict
    }

    /// Judges the internet at large by the verdicts on the probes.
    package static func internetVerdict(_ probes: [Verdict]) -> Verdict {
        var verdict = Verdict.best(probes[...]) ?? Verdict()
        verdict.flags.formIntersection(.meaningfulForInternet)
        return verdict
    }

    private static func refusal(_ error: Errno, _ question: RouteQuestion, _ link: Link?) throws(Errno) -> Verdict {
        var verdict = Verdict()
        verdict.path.destination = question.destination
        if error.rawValue == ENETUNREACH, question.link != 0 {
            guard let link else { return refused(verdict, .noLink) }
            if !link.isEnabled { return refused(verdict, .linkDisabled) }
        }
        switch error.rawValue {
        case ENETUNREACH: return refused(verdict, .noRoute)
        // A kernel without this family has no route of it.
        case EOPNOTSUPP, EAFNOSUPPORT: return refused(verdict, .noRoute)
        case EHOSTUNREACH: return refused(verdict, .unreachable)
        case EACCES: return refused(verdict, .prohibited)
        case EINVAL: return refused(verdict, .blackhole)
        // The link that the question was bound to is gone.
        case ENODEV: return refused(verdict, .noLink)
        default: throw error
        }
    }

    private static func refused(_ verdict: Verdict, _ reason: ReachabilityReason) -> Verdict {
        var verdict = verdict
        verdict.flags = []
        verdict.reason = reason
        return verdict
    }

    private static func reasonForBeingDown(_ link: Link) -> ReachabilityReason {
        if !link.isEnabled { return .linkDisabled }
        // The kernel says so of every link that refers to another one; a veth's peer is no layer below it.
        let isLowerLayer =
            link.operationalState == Link.OperationalState.lowerLayerDown && !link.infoKind.equals("veth")
        return isLowerLayer ? .lowerLayerDown : .noCarrier
    }

    private static func hasUsableSource(_ question: RouteQuestion, _ source: IPAddress?) -> Bool {
        guard let source, !source.isUnspecified else { return false }
        // A packet from there may not leave the machine.
        if source.isLoopback, !question.destination.isLoopback { return false }
        return !(question.destination.isGlobalScopeV6 && source.isLinkLocalV6)
    }

    private static func noteFamily(_ verdict: inout Verdict, _ question: RouteQuestion) {
        verdict.isUsableByV4 = question.destination.family == .v4
        verdict.isUsableByV6 = question.destination.family == .v6
    }
}
