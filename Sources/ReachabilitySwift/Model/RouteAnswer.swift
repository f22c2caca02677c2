// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// One thing the kernel is asked: which way would a packet go?
package struct RouteQuestion: Equatable, Sendable {
    package let destination: IPAddress
    /// The packet's source, when the caller has bound one.
    package let source: IPAddress?
    /// The link it must leave by, 0 for any.
    package let link: UInt32

    package init(destination: IPAddress, source: IPAddress? = nil, link: UInt32 = 0) {
        self.destination = destination
        self.source = source
        self.link = link != 0 ? link : destination.link
    }
}

/// What the kernel says.
package enum RouteAnswer: Sendable {
    case route(Route)
    /// An error number. What it means is for the evaluation to say.
    case failure(Errno)
}

/// The way a packet would go.
package struct Route: Equatable, Sendable {
    /// RTN_ number: unicast, local, broadcast, ...
    package var type: UInt8
    /// Index of the link it leaves by.
    package var link: UInt32
    package var hasGateway = false
    package var gateway: IPAddress?
    /// The source address that the kernel would choose.
    package var source: IPAddress?
    /// Milliseconds until the route goes by itself, which the kernel does not announce; nil when it stays.
    package var lifetime: UInt64?

    package init(type: UInt8 = 0, link: UInt32 = 0) {
        self.type = type
        self.link = link
    }
}

/// What a rule of the policy routing looks at, beside what every question says.
package struct PolicyRule: Equatable, Sendable {
    package let isV4: Bool
    package let looksAtSource: Bool
    package var looksAtUser: Bool

    package init(isV4: Bool, looksAtSource: Bool, looksAtUser: Bool) {
        self.isV4 = isV4
        self.looksAtSource = looksAtSource
        self.looksAtUser = looksAtUser
    }
}
