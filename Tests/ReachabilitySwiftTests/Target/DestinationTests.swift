// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("Destination")
struct DestinationTests {
    private func questions(_ destination: Destination, _ resolution: Resolution = .none) -> [RouteQuestion] {
        var questions: [RouteQuestion] = []
        destination.appendQuestions(resolution: resolution, to: &questions)
        return questions
    }

    private func verdict(
        _ destination: Destination, _ flags: [ReachabilityFlags], internet: Verdict = Verdict(),
        resolution: Resolution = .none
    ) -> Verdict {
        let verdicts = flags.map { Verdict(flags: $0, reason: $0.isEmpty ? .noRoute : .reachable) }
        return destination.verdict(verdicts[...], internet: internet, resolution: resolution)
    }

    private let online = Verdict(flags: [.reachable], reason: .reachable)
    private let offline = Verdict(reason: .prohibited)

    // MARK: what a target is

    @Test("the zero address is the internet", arguments: ["0.0.0.0", "::", "::ffff:0.0.0.0"])
    func zero(text: String) throws {
        guard case .internet = Destination(address: address(text)) else {
            Issue.record("\(text)")
            return
        }
        guard case .internet = try Destination(name: [UInt8](text.utf8)) else {
            Issue.record("\(text) as a name")
            return
        }
    }

    @Test("names that are addresses, this machine, or names")
    func names() throws {
        func kind(_ text: String) throws -> String {
            switch try Destination(name: [UInt8](text.utf8)) {
            case .internet: "internet"
            case .address: "address"
            case .pair: "pair"
            case .localhost: "localhost"
            case .name: "name"
            }
        }
        #expect(try kind("0") == "internet")
        #expect(try kind("127.1") == "address")
        #expect(try kind("fe80::1%lo") == "address")
        #expect(try kind("LOCALHOST.") == "localhost")
        #expect(try kind("a.localhost") == "localhost")
        for text in [
            "example.com", "host:80", "http://host", ".", "a..b", " ", "bücher", String(repeating: "a", count: 10_000),
        ] {
            #expect(try kind(text) == "name")
        }
    }

    @Test("no name at all", arguments: ["", "a\u{0}b", "\u{0}"])
    func noName(text: String) {
        #expect(throws: Errno.invalidArgument) { try Destination(name: [UInt8](text.utf8)) }
    }

    @Test("a pair needs one address at least")
    func emptyPair() {
        #expect(throws: Errno.invalidArgument) { try Destination(local: nil, remote: nil) }
    }

    @Test("which of them are owed a callback, looked up, and depend on the internet")
    func properties() throws {
        let name = try Destination(name: [UInt8]("example.com".utf8))
        #expect(name.isName && name.dependsOnInternet && name.hostToResolve == [UInt8]("example.com".utf8))
        let localhost = try Destination(name: [UInt8]("localhost".utf8))
        #expect(localhost.isName && !localhost.dependsOnInternet && localhost.hostToResolve == nil)
        let literal = try Destination(name: [UInt8]("192.0.2.1".utf8))
        #expect(!literal.isName && !literal.dependsOnInternet && literal.hostToResolve == nil)
        #expect(!Destination.internet.isName && Destination.internet.dependsOnInternet)
    }

    // MARK: the internet

    @Test("there is a probe in each half of the IPv4 addresses and of 2000::/3")
    func probes() {
        let probes = Destination.internetProbes.map(\.destination)
        for text in ["0.0.0.0", "128.0.0.0"] {
            #expect(probes.contains { $0.matches(address(text), prefixLength: 1) })
        }
        for text in ["2000::", "3000::"] {
            #expect(probes.contains { $0.matches(address(text), prefixLength: 4) })
        }
        #expect(questions(.internet).isEmpty, "they are asked once for all")
        #expect(verdict(.internet, [], internet: online).flags == [.reachable])
        #expect(verdict(.internet, [], internet: offline).reason == .prohibited)
    }

    // MARK: addresses and this machine

    @Test("an address is one question and its answer")
    func addresses() {
        let destination = Destination(address: address("fe80::1%lo"))
        #expect(questions(destination).map(\.destination) == [address("fe80::1%lo")])
        #expect(questions(destination).map(\.link) == [address("fe80::1%lo").link])
        #expect(verdict(destination, [[.reachable, .isDirect]]).flags == [.reachable, .isDirect])
        #expect(verdict(destination, [[]], internet: online).flags == [])
    }

    @Test("this machine is asked for by both families")
    func localhost() throws {
        let destination = try Destination(name: [UInt8]("localhost".utf8))
        #expect(questions(destination).map(\.destination) == [.loopbackV4, .loopbackV6])
        #expect(verdict(destination, [[], [.reachable, .isLocalAddress]]).flags == [.reachable, .isLocalAddress])
        #expect(verdict(destination, [[], []], internet: online).flags == [])
    }

    // MARK: pairs

    private let own: ReachabilityFlags = [.reachable, .isLocalAddress, .isDirect]

    @Test("both: the local one must be ours, and is the source of the packet to the remote one")
    func bothOfPair() throws {
        let pair = try Destination(local: address("192.0.2.7"), remote: address("198.51.100.1"))
        #expect(questions(pair).map(\.destination) == [address("192.0.2.7"), address("198.51.100.1")])
        #expect(questions(pair).map(\.source) == [nil, address("192.0.2.7")])
        #expect(verdict(pair, [own, [.reachable]]).flags == [.reachable])
        #expect(verdict(pair, [own, []]).reason == .noRoute)
        let foreign = verdict(pair, [[.reachable, .isDirect], [.reachable]])
        #expect(foreign.flags == [] && foreign.reason == .notLocal)
        #expect(verdict(pair, [[], [.reachable]]).reason == .notLocal)
    }

    @Test("local alone is judged as an address, and must be ours")
    func localAlone() throws {
        let pair = try Destination(local: address("192.0.2.7"), remote: nil)
        #expect(questions(pair).map(\.destination) == [address("192.0.2.7")])
        #expect(verdict(pair, [own]).flags == own)
        #expect(verdict(pair, [[.reachable]]).flags == [])
    }

    @Test("remote alone is judged as an address")
    func remoteAlone() throws {
        let pair = try Destination(local: nil, remote: address("198.51.100.1"))
        #expect(questions(pair) == [RouteQuestion(destination: address("198.51.100.1"))])
        #expect(verdict(pair, [[.reachable]]).flags == [.reachable])
    }

    @Test("an unspecified local one means any", arguments: ["0.0.0.0", "::"])
    func anyLocal(text: String) throws {
        let pair = try Destination(local: address(text), remote: address("198.51.100.1"))
        #expect(questions(pair) == [RouteQuestion(destination: address("198.51.100.1"))])
        #expect(verdict(pair, [[.reachable]]).flags == [.reachable])
    }

    @Test("an unspecified remote one is an address like others, and no internet")
    func zeroRemote() throws {
        let pair = try Destination(local: nil, remote: address("0.0.0.0"))
        #expect(!pair.dependsOnInternet)
        #expect(questions(pair).map(\.destination) == [address("0.0.0.0")])
    }

    @Test("two families: each is judged, and no source is given that cannot be one")
    func mixedPair() throws {
        let pair = try Destination(local: address("192.0.2.7"), remote: address("2001:db8::1"))
        #expect(questions(pair).map(\.source) == [nil, nil])
        #expect(verdict(pair, [own, [.reachable]]).flags == [.reachable])
    }

    @Test("a local address of 127/8 says nothing about a remote one outside")
    func loopbackLocal() throws {
        for remote in ["198.51.100.1", "::1"] {
            guard case .address(let judged) = try Destination(local: address("127.0.0.1"), remote: address(remote))
            else {
                Issue.record("\(remote)")
                continue
            }
            #expect(judged == address(remote))
        }
        guard case .pair = try Destination(local: address("127.0.0.1"), remote: address("127.0.0.2")) else {
            Issue.record("127/8 to 127/8")
            return
        }
        guard case .pair = try Destination(local: address("127.0.0.1"), remote: nil) else {
            Issue.record("127/8 alone")
            return
        }
    }

    // MARK: names

    private let name = Destination.name([UInt8]("example.com".utf8))
    private let found = Resolution.addresses([address("192.0.2.1"), address("2001:db8::1")])

    @Test("a name that was not looked up answers as the internet does")
    func notResolved() {
        #expect(questions(name).isEmpty)
        let verdict = verdict(name, [], internet: online)
        #expect(verdict.flags == [.reachable] && verdict.reason == .notResolved)
    }

    @Test("a name that was looked up answers for its addresses, the best of them")
    func resolved() {
        #expect(questions(name, found).map(\.destination) == [address("192.0.2.1"), address("2001:db8::1")])
        let best = verdict(name, [[], [.reachable, .isDirect]], internet: online, resolution: found)
        #expect(best.flags == [.reachable, .isDirect])
        #expect(
            verdict(name, [[.reachable], [.reachable, .isDirect]], internet: online, resolution: found).flags == [
                .reachable
            ])
        #expect(verdict(name, [[], []], internet: online, resolution: found).flags == [])
        let waiting: ReachabilityFlags = [.reachable, .transientConnection, .connectionRequired]
        #expect(verdict(name, [waiting, []], internet: online, resolution: found).flags == waiting)
    }

    @Test("no such name, and a resolver that failed")
    func notFound() {
        let missing = verdict(name, [], internet: online, resolution: .notFound)
        #expect(missing.flags == [] && missing.reason == .nameNotFound)
        let failed = verdict(name, [], internet: online, resolution: .failed)
        #expect(failed.flags == [] && failed.reason == .resolverFailed)
    }

    @Test("without any path there is none to a name, whatever DNS said", arguments: [0, 1, 2, 3])
    func noPath(index: Int) {
        let resolution = [.none, found, .notFound, .failed][index]
        let flags: [ReachabilityFlags] = index == 1 ? [[.reachable, .isDirect], []] : []
        let verdict = verdict(name, flags, internet: offline, resolution: resolution)
        #expect(verdict.flags == [] && verdict.reason == .prohibited)
    }
}
