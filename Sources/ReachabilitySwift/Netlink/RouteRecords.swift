// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// From the bytes of rtnetlink messages to the model's values, and nothing else: no sockets, no decisions.
///
/// Attributes that are not known are skipped. A record that is too short for its fixed part is no record.
package enum RouteRecords {
    private static let routeHeaderSize = 12  // struct rtmsg
    private static let linkHeaderSize = 16  // struct ifinfomsg
    private static let nextHopHeaderSize = 8  // struct rtnexthop
    private static let ruleHeaderSize = 12  // struct fib_rule_hdr
    private static let addressHeaderSize = 8  // struct ifaddrmsg

    /// Reads the reply to one RTM_GETROUTE.
    package static func routeAnswer(_ message: Message) -> RouteAnswer? {
        if let error = error(message) { return .failure(error) }
        guard Int(message.type) == Int(RTM_NEWROUTE) else { return nil }
        return route(message.payload).map { .route($0) }
    }

    private static func route(_ bytes: BoundedBytes) -> Route? {
        guard let type = bytes.number(at: 7, as: UInt8.self),
            let attributes = bytes.window(from: routeHeaderSize)
        else { return nil }
        return read(attributes, Route(type: type))
    }

    private static func read(_ attributes: BoundedBytes, _ route: Route) -> Route {
        var route = route
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            switch Int(attribute.type) {
            case Int(RTA_OIF.rawValue):
                route.link = attribute.value.number(at: 0, as: UInt32.self) ?? 0
            case Int(RTA_GATEWAY.rawValue):
                route.gateway = attribute.value.address()
                route.hasGateway = true
            case Int(RTA_VIA.rawValue):
                // struct rtvia: the address family, then the address. An IPv4 route with an IPv6 gateway has it.
                route.gateway = attribute.value.window(from: 2)?.address()
                route.hasGateway = true
            case Int(RTA_PREFSRC.rawValue):
                route.source = attribute.value.address()
            case Int(RTA_CACHEINFO.rawValue):
                // struct rta_cacheinfo: the third word is rta_expires, in ticks of 1/100 s.
                if let ticks = attribute.value.number(at: 8, as: Int32.self), ticks > 0 {
                    route.lifetime = UInt64(ticks) * 10
                }
            default:
                break
            }
        }
        return route
    }

    /// Reads the next hops of the reply to one RTM_GETROUTE with RTM_F_FIB_MATCH, but for those that the kernel itself
    /// does not use any more. Empty when the route has just one.
    package static func nextHops(_ message: Message) -> [Route] {
        guard Int(message.type) == Int(RTM_NEWROUTE), let attributes = message.payload.window(from: routeHeaderSize)
        else { return [] }
        var hops = [Route]()
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            guard Int(attribute.type) == Int(RTA_MULTIPATH.rawValue) else { continue }
            var rest = attribute.value
            while let length = rest.number(at: 0, as: UInt16.self), Int(length) >= nextHopHeaderSize,
                let flags = rest.number(at: 2, as: UInt8.self), let link = rest.number(at: 4, as: UInt32.self),
                let inner = rest.window(from: nextHopHeaderSize, count: Int(length) - nextHopHeaderSize)
            {
                if Int32(flags) & RTNH_F_DEAD == 0 {
                    hops.append(read(inner, Route(type: UInt8(RTN_UNICAST), link: link)))
                }
                guard let next = rest.window(from: (Int(length) + 3) & ~3) else { break }
                rest = next
            }
        }
        return hops
    }

    /// Reads the reply to one RTM_GETLINK, or a link event.
    package static func link(_ message: Message) -> Link? {
        let bytes = message.payload
        guard Int(message.type) == Int(RTM_NEWLINK),
            let hardwareType = bytes.number(at: 2, as: UInt16.self),
            let index = bytes.number(at: 4, as: UInt32.self),
            let flags = bytes.number(at: 8, as: UInt32.self),
            let attributes = bytes.window(from: linkHeaderSize)
        else { return nil }
        var operationalState: UInt8 = 0
        var name = InterfaceName()
        var infoKind = InterfaceName()
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            switch Int(attribute.type) {
            case Int(IFLA_IFNAME):
                name = attribute.value.name()
            case Int(IFLA_OPERSTATE):
                operationalState = attribute.value.number(at: 0, as: UInt8.self) ?? 0
            case Int(IFLA_LINKINFO):
                var inner = AttributeReader(attribute.value)
                while let nested = inner.next() {
                    if Int(nested.type) == Int(IFLA_INFO_KIND) { infoKind = nested.value.name() }
                }
            default:
                break
            }
        }
        return Link(
            index: index, hardwareType: hardwareType, flags: flags, operationalState: operationalState, name: name,
            infoKind: infoKind)
    }

    /// Reads one rule of a list.
    package static func rule(_ message: Message) -> PolicyRule? {
        let bytes = message.payload
        guard Int(message.type) == Int(RTM_NEWRULE), let family = bytes.number(at: 0, as: UInt8.self),
            let sourceLength = bytes.number(at: 2, as: UInt8.self), let attributes = bytes.window(from: ruleHeaderSize)
        else { return nil }
        var rule = PolicyRule(isV4: Int32(family) == AF_INET, looksAtSource: sourceLength != 0, looksAtUser: false)
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            if Int(attribute.type) == Int(FRA_UID_RANGE) { rule.looksAtUser = true }
        }
        return rule
    }

    /// Reads one address of a list, if packets to anywhere can have it as their source.
    package static func globalAddress(_ message: Message) -> (IPAddress, isDeprecated: Bool)? {
        let bytes = message.payload
        guard Int(message.type) == Int(RTM_NEWADDR), var flags = bytes.number(at: 2, as: UInt8.self).map(UInt32.init),
            bytes.number(at: 3, as: UInt8.self) == UInt8(RT_SCOPE_UNIVERSE.rawValue),
            let attributes = bytes.window(from: addressHeaderSize)
        else { return nil }
        var address: IPAddress?
        var reader = AttributeReader(attributes)
        while let attribute = reader.next() {
            switch Int(attribute.type) {
            // The own address of a link to one peer is the local one, in IFA_LOCAL; it comes after the other.
            case Int(IFA_ADDRESS), Int(IFA_LOCAL): address = attribute.value.address()
            case Int(IFA_FLAGS): flags = attribute.value.number(at: 0, as: UInt32.self) ?? flags
            default: break
            }
        }
        guard let address, flags & UInt32(IFA_F_TENTATIVE | IFA_F_DADFAILED) == 0 else { return nil }
        return (address, flags & UInt32(IFA_F_DEPRECATED) != 0)
    }

    /// The error of an NLMSG_ERROR message; nil for every other message and for an acknowledgement.
    package static func error(_ message: Message) -> Errno? {
        guard Int32(message.type) == NLMSG_ERROR, let code = message.payload.number(at: 0, as: Int32.self), code < 0,
            code > -4096
        else { return nil }
        return Errno(rawValue: -code)
    }
}
