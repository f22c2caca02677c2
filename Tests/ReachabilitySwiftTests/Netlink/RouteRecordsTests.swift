// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

@Suite("RouteRecords")
struct RouteRecordsTests {
    private func answer(_ bytes: [UInt8]) -> RouteAnswer? {
        withBytes(bytes) { bytes in Message(bytes).flatMap { RouteRecords.routeAnswer($0) } }
    }

    private func route(_ attributes: [UInt8], type: Int = Int(RTN_UNICAST)) throws -> Route {
        let payload = MessageBuilder.routeHeader(family: AF_INET, length: 32, type: type) + attributes
        guard case .route(let route) = answer(MessageBuilder.message(type: RTM_NEWROUTE, payload: payload)) else {
            throw Errno.badMessage
        }
        return route
    }

    private func link(_ payload: [UInt8], type: Int = Int(RTM_NEWLINK)) -> Link? {
        withBytes(MessageBuilder.message(type: type, payload: payload)) { bytes in
            Message(bytes).flatMap { RouteRecords.link($0) }
        }
    }

    private func nextHops(_ attributes: [UInt8], type: Int = Int(RTM_NEWROUTE)) -> [Route] {
        let payload = MessageBuilder.routeHeader(family: AF_INET) + attributes
        return withBytes(MessageBuilder.message(type: type, payload: payload)) { bytes in
            Message(bytes).map { RouteRecords.nextHops($0) } ?? []
        }
    }

    private func hop(length: UInt16 = 8, flags: UInt8 = 0, link: UInt32) -> [UInt8] {
        var builder = MessageBuilder()
        builder.append(length)
        builder.append(flags)
        builder.append(UInt8(0))
        builder.append(link)
        return builder.bytes
    }

    @Test("a route with everything")
    func whole() throws {
        var lifetime = MessageBuilder()
        for word in [0, 0, 250, 0] as [UInt32] { lifetime.append(word) }
        let route = try route(
            MessageBuilder.join(
                MessageBuilder.attribute(RTA_TABLE.rawValue, UInt32(254)),
                MessageBuilder.attribute(RTA_OIF.rawValue, UInt32(7)),
                MessageBuilder.attribute(RTA_GATEWAY.rawValue, address("192.0.2.1")),
                MessageBuilder.attribute(RTA_PREFSRC.rawValue, address("192.0.2.7")),
                MessageBuilder.attribute(RTA_CACHEINFO.rawValue, lifetime.bytes),
                MessageBuilder.attribute(999, [1, 2, 3])))
        #expect(route.type == UInt8(RTN_UNICAST))
        #expect(route.link == 7)
        #expect(route.hasGateway)
        #expect(route.gateway == address("192.0.2.1"))
        #expect(route.source == address("192.0.2.7"))
        #expect(route.lifetime == 2500)
    }

    @Test("a route with nothing")
    func bare() throws {
        let route = try route([], type: Int(RTN_LOCAL))
        #expect(route.type == UInt8(RTN_LOCAL))
        #expect(route.link == 0)
        #expect(!route.hasGateway)
        #expect(route.gateway == nil && route.source == nil && route.lifetime == nil)
    }

    @Test("an IPv4 route by way of an IPv6 gateway")
    func via() throws {
        let gateway = address("2001:db8::1")
        let value = [UInt8(AF_INET6), 0] + (0..<16).map { gateway.byte($0) }
        let route = try route(MessageBuilder.attribute(RTA_VIA.rawValue, value))
        #expect(route.hasGateway)
        #expect(route.gateway == gateway)
    }

    @Test("values of the wrong length are as good as none")
    func wrongLengths() throws {
        let route = try route(
            MessageBuilder.join(
                MessageBuilder.attribute(RTA_OIF.rawValue, [1, 2]),
                MessageBuilder.attribute(RTA_GATEWAY.rawValue, [1, 2, 3]),
                MessageBuilder.attribute(RTA_VIA.rawValue, [1]),
                MessageBuilder.attribute(RTA_PREFSRC.rawValue, []),
                MessageBuilder.attribute(RTA_CACHEINFO.rawValue, [0, 0, 0, 0, 0, 0, 0, 0, 1])))
        #expect(route.link == 0)
        #expect(route.hasGateway, "there is a gateway, whatever its address")
        #expect(route.gateway == nil)
        #expect(route.source == nil)
        #expect(route.lifetime == nil)
    }

    @Test("a lifetime that is over, or endless, is none", arguments: [0, UInt32.max, UInt32(bitPattern: .min)])
    func noLifetime(ticks: UInt32) throws {
        var lifetime = MessageBuilder()
        for word in [0, 0, ticks, 0] { lifetime.append(word) }
        #expect(try route(MessageBuilder.attribute(RTA_CACHEINFO.rawValue, lifetime.bytes)).lifetime == nil)
    }

    @Test("a payload that is not whole is no answer", arguments: 0..<12)
    func short(count: Int) {
        let payload = [UInt8](MessageBuilder.routeHeader(family: AF_INET)[..<count])
        #expect(answer(MessageBuilder.message(type: RTM_NEWROUTE, payload: payload)) == nil)
    }

    @Test("errors are answers")
    func errors() throws {
        var payload = MessageBuilder()
        payload.append(-ENETUNREACH)
        let bytes = MessageBuilder.message(type: NLMSG_ERROR, payload: payload.bytes)
        guard case .failure(let error) = answer(bytes) else {
            Issue.record("no error")
            return
        }
        #expect(error.rawValue == ENETUNREACH)
    }

    @Test("numbers that are no errors are no answers", arguments: [0, 1, 110, Int32.min, -4096, -100_000])
    func noErrors(code: Int32) {
        var payload = MessageBuilder()
        payload.append(code)
        #expect(answer(MessageBuilder.message(type: NLMSG_ERROR, payload: payload.bytes)) == nil)
    }

    @Test("half an error, and other messages, are no answers")
    func others() {
        #expect(answer(MessageBuilder.message(type: NLMSG_ERROR, payload: [0xff, 0xff])) == nil)
        for type in [0, Int(NLMSG_DONE), Int(RTM_NEWLINK), Int(RTM_DELROUTE), 0xffff] {
            let payload = MessageBuilder.routeHeader(family: AF_INET)
            #expect(answer(MessageBuilder.message(type: type, payload: payload)) == nil)
        }
    }

    @Test("several next hops")
    func hops() {
        let value = MessageBuilder.join(
            hop(link: 3), hop(flags: UInt8(RTNH_F_DEAD), link: 4), hop(length: 16, link: 5), [8, 0, 5, 0, 192, 0, 2, 9])
        let hops = nextHops(MessageBuilder.attribute(RTA_MULTIPATH.rawValue, value))
        #expect(hops.map(\.link) == [3, 5])
        #expect(hops.map(\.hasGateway) == [false, true])
        #expect(hops.map(\.gateway) == [nil, address("192.0.2.9")])
    }

    @Test("lies about the length of a next hop end the walk", arguments: [0, 1, 7] as [UInt16])
    func shortHops(length: UInt16) {
        let value = hop(link: 3) + hop(length: length, link: 4) + hop(link: 5)
        #expect(nextHops(MessageBuilder.attribute(RTA_MULTIPATH.rawValue, value)).map(\.link) == [3])
    }

    @Test("a next hop that reaches beyond the end is the last one")
    func longHops() {
        let value = hop(length: 0xffff, link: 3) + hop(link: 4)
        #expect(nextHops(MessageBuilder.attribute(RTA_MULTIPATH.rawValue, value)).map(\.link) == [3])
        #expect(nextHops(MessageBuilder.attribute(RTA_MULTIPATH.rawValue, [8, 0, 0])).isEmpty)
        #expect(nextHops([]).isEmpty)
        #expect(nextHops(MessageBuilder.attribute(RTA_MULTIPATH.rawValue, hop(link: 3)), type: 3).isEmpty)
    }

    @Test("a link with everything")
    func wholeLink() throws {
        let kind = MessageBuilder.attribute(IFLA_INFO_KIND, [UInt8]("veth".utf8) + [0])
        let payload = MessageBuilder.join(
            MessageBuilder.linkHeader(hardwareType: 519, index: 12, flags: 0x1_0043),
            MessageBuilder.attribute(IFLA_IFNAME, [UInt8]("eth0".utf8) + [0]),
            MessageBuilder.attribute(IFLA_OPERSTATE, [6]),
            MessageBuilder.attribute(Int(IFLA_LINKINFO) | 0x8000, kind))
        let found = link(payload)
        let link = try #require(found)
        #expect(link.index == 12)
        #expect(link.hardwareType == 519)
        #expect(link.flags == 0x1_0043)
        #expect(link.operationalState == 6)
        #expect(link.name.bytes == [UInt8]("eth0".utf8))
        #expect(link.infoKind.equals("veth"))
        #expect(link.isEnabled && link.isUsable && !link.isDormant && !link.isPointToPoint)
    }

    @Test("names that are too long, not ended, or empty")
    func names() throws {
        func name(_ bytes: [UInt8]) throws -> [UInt8] {
            let payload = MessageBuilder.linkHeader(index: 1) + MessageBuilder.attribute(IFLA_IFNAME, bytes)
            return try #require(link(payload)).name.bytes
        }
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300)
        #expect(try name(long) == [UInt8](long[..<15]))
        #expect(try name([]) == [])
        #expect(try name([97, 0, 98]) == [97])
    }

    @Test("a link that is not whole is none", arguments: 0..<16)
    func shortLink(count: Int) {
        #expect(link([UInt8](MessageBuilder.linkHeader(index: 1)[..<count])) == nil)
    }

    @Test("a link that went is none")
    func goneLink() {
        #expect(link(MessageBuilder.linkHeader(index: 1), type: Int(RTM_DELLINK)) == nil)
    }

    /// Whatever the bytes are, readers come to an end and read nothing that is not there; the address sanitizer would
    /// see it.
    @Test("random bytes are survived", arguments: 1...8 as ClosedRange<UInt64>)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let types = [Int(RTM_NEWROUTE), Int(RTM_NEWLINK), Int(NLMSG_ERROR), Int(RTM_DELROUTE), Int(RTM_DELLINK)]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<120, using: &random)
            var payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Many small numbers make attributes that nearly are ones.
            for place in payload.indices where Bool.random(using: &random) { payload[place] &= 0x1f }
            let type = types[Int.random(in: 0..<types.count, using: &random)]
            let length = Bool.random(using: &random) ? nil : UInt32.random(in: 0...300, using: &random)
            let bytes = MessageBuilder.message(type: type, payload: payload, length: length)
            withBytes(bytes) { bytes in
                for isCut in [true, false] {
                    guard let message = Message(bytes, isCut: isCut) else { continue }
                    #expect(message.payload.count <= payload.count)
                    _ = RouteRecords.routeAnswer(message)
                    #expect(RouteRecords.nextHops(message).count <= payload.count / 8)
                    _ = RouteRecords.link(message)
                }
                _ = NetworkEvent(datagram: bytes)
            }
        }
    }
}
