// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// Why the flags are what they are. The raw values are those of REACH_REASON_ in the C header.
public enum ReachabilityReason: Int32, Sendable {
    case reachable = 0
    case noRoute = 1
    case unreachable = 2
    case prohibited = 3
    case blackhole = 4
    case noCarrier = 5
    case lowerLayerDown = 6
    case linkDisabled = 7
    case noLink = 8
    case noSource = 9
    case notLocal = 10
    case dormant = 11
    case nameNotFound = 12
    case resolverFailed = 13
    case notResolved = 14

    /// The reason in words, a constant.
    package var text: StaticString {
        switch self {
        case .reachable: return "there is a path"
        case .noRoute: return "no route"
        case .unreachable: return "a route says unreachable"
        case .prohibited: return "prohibited by a route or rule"
        case .blackhole: return "dropped by a blackhole route or rule"
        case .noCarrier: return "the link has lost its carrier"
        case .lowerLayerDown: return "the link below this link is down"
        case .linkDisabled: return "the link is administratively down"
        case .noLink: return "there is no such link"
        case .noSource: return "no address of this machine can be the source"
        case .notLocal: return "the local address is not this machine's"
        case .dormant: return "the link is dormant and waits for an event such as dialling"
        case .nameNotFound: return "there is no such name"
        case .resolverFailed: return "the name look-up failed or timed out"
        case .notResolved: return "the name has not been looked up yet"
        }
    }
}

/// The way a packet would take.
package struct Path: Sendable {
    /// What was judged.
    package var destination: IPAddress?
    package var gateway: IPAddress?
    package var source: IPAddress?
    package var linkName = InterfaceName()
    /// Index of the link that it leaves by; 0 when there is none.
    package var link: UInt32 = 0
    package var linkKind = LinkKind.none

    package init() {}
}

/// The answer for a target, with its reason and its path.
package struct Verdict: Sendable {
    // In an order without holes: verdicts are copied a lot.
    package var path = Path()
    /// When a route that the verdict rests on goes by itself, unannounced.
    package var expiry = Deadline.never
    package var flags: ReachabilityFlags = []
    package var reason = ReachabilityReason.noRoute
    package var isUsableByV4 = false
    package var isUsableByV6 = false

    package init(flags: ReachabilityFlags = [], reason: ReachabilityReason = .noRoute) {
        self.flags = flags
        self.reason = reason
    }

    /// Takes another verdict when it ranks higher, and remembers for both which families are usable.
    mutating func improve(with other: Verdict) {
        let v4 = isUsableByV4 || other.isUsableByV4
        let v6 = isUsableByV6 || other.isUsableByV6
        let expiry = min(expiry, other.expiry)
        if other.flags.rank > flags.rank { self = other }
        isUsableByV4 = v4
        isUsableByV6 = v6
        self.expiry = expiry
    }

    /// The best of several verdicts, the first of the best; the first of all when none is reachable. Nil for none.
    static func best(_ verdicts: ArraySlice<Verdict>) -> Verdict? {
        guard var best = verdicts.first, verdicts.count > 1 else { return verdicts.first }
        for verdict in verdicts.dropFirst() { best.improve(with: verdict) }
        return best
    }

    /// What is kept for each of many targets.
    package var answer: Answer { Answer(flags: flags, reason: reason, link: path.link) }
}

/// The part of a verdict that is kept for each of many targets.
package struct Answer: Sendable {
    package private(set) var flags: ReachabilityFlags = []
    package private(set) var reason = ReachabilityReason.noRoute
    /// Index of the link by which a packet would leave.
    private var link: UInt32 = 0

    package init() {}

    fileprivate init(flags: ReachabilityFlags, reason: ReachabilityReason, link: UInt32) {
        self.flags = flags
        self.reason = reason
        self.link = link
    }

    /// What callbacks are about: the flags, and the link by which a packet would leave. A difference in anything else
    /// is no change, and where no packet would leave, there is no such link.
    package func isSame(as other: Answer) -> Bool {
        flags == other.flags && (flags.isEmpty || link == other.link)
    }
}
