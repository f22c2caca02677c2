// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

/// One test for each row of the table by which an answer of the kernel is weighed.
@Suite("FlagEvaluator")
struct FlagEvaluatorTests {
    private static let up = UInt32(IFF_UP | IFF_RUNNING)
    private static let operational: UInt8 = 6

    private func link(
        _ kind: LinkKind = .ethernet, flags: UInt32 = up, operationalState: UInt8 = operational
    ) -> Link {
        let name = [UInt8]("eth0".utf8).withUnsafeBytes { InterfaceName($0) }
        var link = Link(
            index: 3, hardwareType: 1, flags: flags, operationalState: operationalState, name: name,
            infoKind: InterfaceName())
        link.kind = kind
        return link
    }

    private func route(
        type: some BinaryInteger = RTN_UNICAST, gateway: IPAddress? = address("192.0.2.1"),
        source: IPAddress? = address("192.0.2.7")
    ) -> Route {
        var route = Route()
        route.type = UInt8(type)
        route.link = 3
        route.gateway = gateway
        route.hasGateway = gateway != nil
        route.source = source
        return route
    }

    private func verdict(
        _ route: Route, _ link: Link?, to destination: IPAddress = address("198.51.100.1"),
        from source: IPAddress? = nil
    ) throws -> Verdict {
        try FlagEvaluator.verdict(
            RouteQuestion(destination: destination, source: source), .route(route), link: link, now: 1_000_000_000)
    }

    private func refusal(_ error: Int32) throws -> Verdict {
        let question = RouteQuestion(destination: address("198.51.100.1"))
        return try FlagEvaluator.verdict(question, .failure(Errno(rawValue: error)), link: nil, now: 0)
    }

    // MARK: route

    @Test(
        "errors that say no",
        arguments: [
            (ENETUNREACH, .noRoute), (EHOSTUNREACH, .unreachable), (EACCES, .prohibited), (EINVAL, .blackhole),
            (ENODEV, .noLink), (EAFNOSUPPORT, .noRoute), (EOPNOTSUPP, .noRoute),
        ] as [(Int32, ReachabilityReason)])
    func refusals(error: Int32, reason: ReachabilityReason) throws {
        let verdict = try refusal(error)
        #expect(verdict.flags == [])
        #expect(verdict.reason == reason)
        #expect(verdict.path.destination == address("198.51.100.1"))
        #expect(verdict.path.link == 0)
        #expect(!verdict.isUsableByV4 && !verdict.isUsableByV6)
    }

    @Test(
        "every other error means that the answer is unknown",
        arguments: [ENOMEM, ENOBUFS, EMFILE, ENFILE, EPERM, EBADF, EAGAIN, EIO, EBADMSG])
    func unknown(error: Int32) {
        #expect(throws: Errno(rawValue: error)) { try refusal(error) }
    }

    @Test("type local is this machine, whatever the link and the source")
    func local() throws {
        let down = link(.loopback, flags: 0, operationalState: 2)
        for link in [link(.loopback), down, nil] {
            let verdict = try verdict(route(type: RTN_LOCAL, gateway: nil, source: nil), link)
            #expect(verdict.flags.rawValue == 0x3_0002)
            #expect(verdict.reason == .reachable)
            #expect(verdict.isUsableByV4)
        }
    }

    @Test("types that go on", arguments: [RTN_UNICAST, RTN_MULTICAST, RTN_BROADCAST, RTN_ANYCAST].map { Int($0) })
    func usableTypes(type: Int) throws {
        let verdict = try verdict(route(type: type), link())
        #expect(verdict.flags == [.reachable])
        #expect(verdict.reason == .reachable)
    }

    @Test(
        "types that refuse",
        arguments: [
            (Int(RTN_UNREACHABLE), .unreachable), (Int(RTN_PROHIBIT), .prohibited), (Int(RTN_BLACKHOLE), .blackhole),
            (Int(RTN_THROW), .noRoute), (Int(RTN_NAT), .noRoute), (0, .noRoute), (255, .noRoute),
        ] as [(Int, ReachabilityReason)])
    func refusingTypes(type: Int, reason: ReachabilityReason) throws {
        let verdict = try verdict(route(type: type), link())
        #expect(verdict.flags == [])
        #expect(verdict.reason == reason)
    }

    // MARK: link

    @Test("a link that is gone meanwhile")
    func noLink() throws {
        let verdict = try verdict(route(), nil)
        #expect(verdict.flags == [])
        #expect(verdict.reason == .noLink)
    }

    @Test("a link that does not tell its state is usable when it is running", arguments: [0, 6] as [UInt8])
    func usable(operationalState: UInt8) throws {
        #expect(try verdict(route(), link(operationalState: operationalState)).flags == [.reachable])
    }

    @Test(
        "links that are not running",
        arguments: [
            (0, 2, .linkDisabled), (UInt32(IFF_RUNNING), 6, .linkDisabled), (UInt32(IFF_UP), 2, .noCarrier),
            (UInt32(IFF_UP), 3, .lowerLayerDown), (UInt32(IFF_UP), 0, .noCarrier), (0, 5, .linkDisabled),
        ] as [(UInt32, UInt8, ReachabilityReason)])
    func down(flags: UInt32, operationalState: UInt8, reason: ReachabilityReason) throws {
        let verdict = try verdict(route(), link(flags: flags, operationalState: operationalState))
        #expect(verdict.flags == [])
        #expect(verdict.reason == reason)
        #expect(verdict.path.link == 3, "the way is told all the same")
    }

    @Test(
        "dormant links",
        arguments: [(.ethernet, 0x7), (.ppp, 0xf), (.cellular, 0x4_0007)] as [(LinkKind, UInt32)])
    func dormant(kind: LinkKind, flags: UInt32) throws {
        let verdict = try verdict(route(), link(kind, flags: UInt32(IFF_UP), operationalState: 5))
        #expect(verdict.flags.rawValue == flags)
        #expect(verdict.reason == .dormant)
        #expect(!verdict.flags.isOnline)
    }

    // MARK: source

    @Test("no source")
    func noSource() throws {
        for source in [nil, address("0.0.0.0")] as [IPAddress?] {
            let verdict = try verdict(route(source: source), link())
            #expect(verdict.flags == [])
            #expect(verdict.reason == .noSource)
        }
    }

    @Test(
        "a link-local source is of use on its link only",
        arguments: [
            ("2001:db8::1", false), ("fd00::1", false), ("ff0e::1", false), ("fe80::99", true), ("ff02::1", true),
        ])
    func linkLocalSource(destination: String, isUsable: Bool) throws {
        let route = route(gateway: nil, source: address("fe80::7"))
        let verdict = try verdict(route, link(), to: address(destination))
        #expect(verdict.flags.isOnline == isUsable)
        #expect(verdict.reason == (isUsable ? .reachable : .noSource))
    }

    @Test(
        "private sources are usable",
        arguments: [("2001:db8::1", "fd00::7"), ("198.51.100.1", "169.254.3.4"), ("198.51.100.1", "10.0.0.7")])
    func privateSource(destination: String, source: String) throws {
        let gateway = address(destination).family == .v4 ? address("192.0.2.1") : address("fe80::1")
        let route = route(gateway: gateway, source: address(source))
        #expect(try verdict(route, link(), to: address(destination)).flags == [.reachable])
    }

    @Test("a source that the caller has bound counts instead of the kernel's choice")
    func boundSource() throws {
        let bound = try verdict(route(source: nil), link(), from: address("192.0.2.7"))
        #expect(bound.flags == [.reachable])
        #expect(bound.path.source == address("192.0.2.7"))
    }

    // MARK: kind and gateway

    @Test("point-to-point links are transient, and never direct", arguments: [LinkKind.tunnel, .ppp, .other])
    func pointToPoint(kind: LinkKind) throws {
        let link = link(kind, flags: FlagEvaluatorTests.up | UInt32(IFF_POINTOPOINT))
        for gateway in [nil, address("192.0.2.1")] {
            #expect(try verdict(route(gateway: gateway), link).flags == [.reachable, .transientConnection])
        }
    }

    @Test("cellular links")
    func cellular() throws {
        #expect(try verdict(route(), link(.cellular)).flags.rawValue == 0x4_0003)
        let pointToPoint = link(.cellular, flags: FlagEvaluatorTests.up | UInt32(IFF_POINTOPOINT))
        #expect(try verdict(route(gateway: nil), pointToPoint).flags.rawValue == 0x4_0003)
    }

    @Test("without a gateway it is direct")
    func direct() throws {
        for kind in [LinkKind.ethernet, .wifi, .other] {
            #expect(try verdict(route(gateway: nil), link(kind)).flags.rawValue == 0x2_0002)
            #expect(try verdict(route(), link(kind)).flags.rawValue == 0x2)
        }
    }

    @Test("a gateway without an address that can be read is one")
    func strangeGateway() throws {
        var route = route(gateway: nil)
        route.hasGateway = true
        #expect(try verdict(route, link()).flags == [.reachable])
    }

    @Test("169.254/16 over Ethernet or Wi-Fi is direct, whatever the way")
    func linkLocalDestination() throws {
        let destination = address("169.254.8.9")
        for kind in [LinkKind.ethernet, .wifi] {
            #expect(try verdict(route(), link(kind), to: destination).flags.rawValue == 0x2_0002)
        }
        for kind in [LinkKind.other, .cellular] {
            #expect(try !verdict(route(), link(kind), to: destination).flags.contains(.isDirect))
        }
    }

    // MARK: what is told beside the flags

    @Test("the path")
    func path() throws {
        let verdict = try verdict(route(), link(.wifi))
        #expect(verdict.path.destination == address("198.51.100.1"))
        #expect(verdict.path.gateway == address("192.0.2.1"))
        #expect(verdict.path.source == address("192.0.2.7"))
        #expect(verdict.path.link == 3)
        #expect(verdict.path.linkName.equals("eth0"))
        #expect(verdict.path.linkKind == .wifi)
        #expect(verdict.isUsableByV4 && !verdict.isUsableByV6)
    }

    @Test("a route that goes by itself limits how long the answer holds")
    func expiry() throws {
        var route = route()
        #expect(try verdict(route, link()).expiry == .never)
        route.lifetime = 2500
        // Not before the kernel lets it go, and not long after.
        let expiry = try verdict(route, link()).expiry
        #expect((3_500_000_000...3_600_000_000).contains(expiry.nanoseconds))
    }

    // MARK: the internet at large

    @Test("any probe will do, and the best one counts")
    func internet() throws {
        let none = Verdict(reason: .unreachable)
        let dormant = try verdict(route(), link(.ppp, flags: UInt32(IFF_UP), operationalState: 5))
        let good = try verdict(route(), link(.wifi))
        #expect(FlagEvaluator.internetVerdict([none, none]).flags == [])
        #expect(FlagEvaluator.internetVerdict([none, none]).reason == .unreachable)
        #expect(FlagEvaluator.internetVerdict([none, dormant]).flags.rawValue == 0xf)
        for order in [[none, dormant, good], [good, dormant, none], [dormant, good, none]] {
            #expect(FlagEvaluator.internetVerdict(order).flags == [.reachable])
            #expect(FlagEvaluator.internetVerdict(order).path.linkKind == .wifi)
        }
        #expect(FlagEvaluator.internetVerdict([]).flags == [])
    }

    @Test("the internet is nobody's address")
    func internetFlags() throws {
        let everything = ReachabilityFlags(rawValue: .max)
        let verdict = FlagEvaluator.internetVerdict([Verdict(flags: [.reachable, .isLocalAddress, .isDirect, .isWWAN])])
        #expect(verdict.flags == [.reachable, .isWWAN])
        #expect(FlagEvaluator.internetVerdict([Verdict(flags: everything)]).flags.rawValue == 0x4_000f)
    }

    @Test("families that are usable are put together, and so is how long that holds")
    func families() throws {
        let v4 = try verdict(route(), link())
        var lasting = route(gateway: address("fe80::1"), source: address("2001:db8::7"))
        lasting.lifetime = 1000
        let v6 = try verdict(lasting, link(), to: address("2001:db8:1::1"))
        let both = FlagEvaluator.internetVerdict([v4, v6])
        #expect(both.isUsableByV4 && both.isUsableByV6)
        #expect(v4.expiry == .never && v6.expiry != .never)
        #expect(both.expiry == v6.expiry)
    }
}
