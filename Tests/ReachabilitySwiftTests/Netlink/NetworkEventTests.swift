// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

@Suite("NetworkEvent")
struct NetworkEventTests {
    private func event(_ bytes: [UInt8]) -> NetworkEvent {
        withBytes(bytes) { NetworkEvent(datagram: $0) }
    }

    private func routeMessage(family: some BinaryInteger, length: UInt8, _ attributes: [UInt8]) -> [UInt8] {
        let payload = MessageBuilder.routeHeader(family: family, length: length) + attributes
        return MessageBuilder.message(type: RTM_NEWROUTE, payload: payload)
    }

    @Test("routes, coming and going", arguments: [Int(RTM_NEWROUTE), Int(RTM_DELROUTE)])
    func routes(type: Int) {
        let v4 = address("198.51.100.0")
        #expect(event(MessageBuilder.routeEvent(v4, length: 24, type: type)) == .route(prefix: v4, length: 24))
        let v6 = address("2001:db8::")
        #expect(event(MessageBuilder.routeEvent(v6, length: 32, type: type)) == .route(prefix: v6, length: 32))
    }

    @Test("the destination need not come first")
    func order() {
        let before = MessageBuilder.attribute(RTA_TABLE.rawValue, UInt32(254))
        let prefix = address("198.51.100.0")
        #expect(
            event(MessageBuilder.routeEvent(prefix, length: 24, before: before)) == .route(prefix: prefix, length: 24))
    }

    @Test("a default route has no destination")
    func defaultRoute() {
        #expect(event(routeMessage(family: AF_INET, length: 0, [])) == .route(prefix: IPAddress(v4: 0), length: 0))
        #expect(
            event(routeMessage(family: AF_INET6, length: 0, []))
                == .route(prefix: IPAddress(v6High: 0, low: 0), length: 0))
    }

    @Test("links")
    func links() {
        let payload = MessageBuilder.linkHeader(index: 9)
        #expect(event(MessageBuilder.message(type: RTM_NEWLINK, payload: payload)) == .link(index: 9, isGone: false))
        #expect(event(MessageBuilder.message(type: RTM_DELLINK, payload: payload)) == .link(index: 9, isGone: true))
    }

    @Test("a datagram that was cut behind what matters")
    func cut() {
        let prefix = address("198.51.100.0")
        let bytes = MessageBuilder.routeEvent(prefix, length: 24)
        #expect(event([UInt8](bytes[..<36])) == .route(prefix: prefix, length: 24))
        let link = MessageBuilder.message(type: RTM_NEWLINK, payload: MessageBuilder.linkHeader(index: 9), length: 1400)
        #expect(event(link) == .link(index: 9, isGone: false))
    }

    @Test("every doubt is anything")
    func doubts() {
        let v4 = address("198.51.100.0")
        let v6 = address("2001:db8::")
        // An IPv4-mapped prefix reads as IPv4.
        let mapped = MessageBuilder.attribute(
            RTA_DST.rawValue, [UInt8](repeating: 0, count: 10) + [255, 255, 1, 2, 3, 4])
        let doubtful: [[UInt8]] = [
            [],
            [UInt8](MessageBuilder.routeEvent(v4, length: 24)[..<10]),
            [UInt8](MessageBuilder.routeEvent(v4, length: 24)[..<20]),
            // Cut in the middle of the destination.
            [UInt8](MessageBuilder.routeEvent(v4, length: 24)[..<34]),
            [UInt8](MessageBuilder.routeEvent(v6, length: 32)[..<40]),
            routeMessage(family: AF_INET, length: 33, MessageBuilder.attribute(RTA_DST.rawValue, v4)),
            routeMessage(family: AF_INET6, length: 129, MessageBuilder.attribute(RTA_DST.rawValue, v6)),
            routeMessage(family: AF_INET, length: 24, []),
            routeMessage(family: AF_INET, length: 24, MessageBuilder.attribute(RTA_DST.rawValue, v6)),
            routeMessage(family: AF_INET6, length: 24, MessageBuilder.attribute(RTA_DST.rawValue, v4)),
            routeMessage(family: AF_INET6, length: 128, mapped),
            routeMessage(family: AF_INET, length: 24, MessageBuilder.attribute(RTA_DST.rawValue, [1, 2, 3])),
            routeMessage(family: AF_MPLS, length: 20, MessageBuilder.attribute(RTA_DST.rawValue, [1, 2, 3, 4])),
            routeMessage(family: 0, length: 0, []),
            MessageBuilder.message(type: RTM_NEWLINK, payload: [0, 0, 0, 0, 1]),
            MessageBuilder.message(type: RTM_NEWADDR, payload: [2, 24, 0, 0, 1, 0, 0, 0]),
            MessageBuilder.message(type: RTM_NEWRULE, payload: MessageBuilder.routeHeader(family: AF_INET)),
            MessageBuilder.message(type: RTM_NEWNEXTHOP, payload: [2, 0, 0, 0]),
            MessageBuilder.message(type: 0xffff, payload: []),
        ]
        for bytes in doubtful { #expect(event(bytes) == .anything, "\(bytes)") }
    }
}
