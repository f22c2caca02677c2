// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

/// What the filter drops, nobody hears of again. So it is compared, on random prefixes near random addresses, with the
/// definition: a route message matters if some address lies in its prefix. It is run both by a machine of the test's
/// own and by the kernel's.
@Suite("EventFilter")
struct EventFilterTests {
    static let seeds: [UInt64] = Array(1...6)

    private func randomAddress(_ family: IPAddress.Family, _ random: inout SeededGenerator) -> IPAddress {
        family == .v4
            ? IPAddress(v4: UInt32.random(in: 0...UInt32.max, using: &random))
            : IPAddress(
                v6High: 0x2000_0000_0000_0000 | UInt64.random(in: 0...0x1fff_ffff_ffff_ffff, using: &random),
                low: UInt64.random(in: 0...UInt64.max, using: &random))
    }

    /// A prefix that contains an address, or would but for one bit; its bits behind the length are whatever they are.
    private func prefix(near address: IPAddress, _ random: inout SeededGenerator) -> (IPAddress, Int) {
        let width = address.family.bitWidth
        let length = Int.random(in: 0...width, using: &random)
        guard Bool.random(using: &random), length > 0 else { return (address, length) }
        // Often the last bit that counts, or the first that does not.
        let bit =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: length - 1
            case 1: min(length, width - 1)
            default: Int.random(in: 0..<width, using: &random)
            }
        return (flip(address, bit), length)
    }

    private func flip(_ address: IPAddress, _ bit: Int) -> IPAddress {
        switch address.family {
        case .v4: IPAddress(v4: UInt32(truncatingIfNeeded: address.low) ^ 0x8000_0000 >> UInt32(bit))
        case .v6 where bit < 64: IPAddress(v6High: address.high ^ 1 << UInt64(63 - bit), low: address.low)
        case .v6: IPAddress(v6High: address.high, low: address.low ^ 1 << UInt64(127 - bit))
        }
    }

    /// Messages, each with whether it matters to some address.
    private func messages(
        _ count: Int, about addresses: [IPAddress], _ random: inout SeededGenerator
    ) -> [(bytes: [UInt8], matters: Bool)] {
        (0..<count).map { _ in
            let near =
                addresses.isEmpty || Int.random(in: 0..<8, using: &random) == 0
                ? randomAddress(Bool.random(using: &random) ? .v4 : .v6, &random)
                : addresses[Int.random(in: 0..<addresses.count, using: &random)]
            let (prefix, length) = prefix(near: near, &random)
            let type = Bool.random(using: &random) ? RTM_NEWROUTE : RTM_DELROUTE
            let before = Bool.random(using: &random) ? MessageBuilder.attribute(RTA_TABLE.rawValue, UInt32(254)) : []
            return (
                MessageBuilder.routeEvent(prefix, length: length, type: type, before: before),
                length == 0 || addresses.contains { $0.matches(prefix, prefixLength: length) }
            )
        }
    }

    private func addresses(_ random: inout SeededGenerator) -> [IPAddress] {
        let count = Int.random(in: 0...EventFilter.addressLimit, using: &random)
        let share = Int.random(in: 0...4, using: &random)
        return (0..<count).map { _ in
            randomAddress(Int.random(in: 0..<4, using: &random) < share ? .v4 : .v6, &random)
        }
    }

    @Test("lets through what matters and drops what does not", arguments: seeds)
    func agreesWithDefinition(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var passed = 0
        var dropped = 0
        for _ in 0..<20 {
            let addresses = addresses(&random)
            let machine = PacketFilterMachine(program: EventFilter(addresses: addresses).program)
            for (bytes, matters) in messages(250, about: addresses, &random) {
                let passes = try machine.run(bytes) != 0
                #expect(passes == matters, "\(addresses) \(bytes)")
                if matters { passed += 1 } else { dropped += 1 }
            }
        }
        // A test that only ever saw one of both would prove nothing.
        #expect(passed > 1000 && dropped > 500, "\(passed) passed, \(dropped) dropped")
    }

    @Test("and the kernel agrees", arguments: seeds)
    func agreesInKernel(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 100)
        for _ in 0..<10 {
            let addresses = addresses(&random)
            let filter = EventFilter(addresses: addresses)
            let sockets = try #require(FilteredSocketPair(filter), "\(filter.program.count) instructions")
            for (bytes, matters) in messages(200, about: addresses, &random) {
                #expect(sockets.passes(bytes) == matters, "\(addresses) \(bytes)")
            }
        }
    }

    /// The filter and the index are two ways to say the same, so that a message that the kernel lets through is also
    /// acted on.
    @Test("decides as the reader of events and the index do", arguments: seeds)
    func agreesWithIndex(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 200)
        for _ in 0..<10 {
            let addresses = addresses(&random)
            let machine = PacketFilterMachine(program: EventFilter(addresses: addresses).program)
            var index = DestinationIndex()
            index.rebuild(addresses.enumerated().map { .init(address: $1, slot: $0) })
            for (bytes, _) in messages(200, about: addresses, &random) {
                guard case .route(let prefix, let length) = withBytes(bytes, { NetworkEvent(datagram: $0) }) else {
                    Issue.record("no route event: \(bytes)")
                    continue
                }
                var isActedOn = length == 0
                index.forEach(prefix: prefix, length: length) { _ in isActedOn = true }
                #expect(try (machine.run(bytes) != 0) == isActedOn, "\(bytes)")
            }
        }
    }

    @Test("what is doubtful always comes through", arguments: [0, 1, 8])
    func doubtful(count: Int) throws {
        let v4 = address("198.51.100.0")
        let v6 = address("2001:db8::")
        let filter = EventFilter(addresses: Array([v4, v6].prefix(count)))
        let machine = PacketFilterMachine(program: filter.program)
        let sockets = try #require(FilteredSocketPair(filter))
        func routeMessage(_ family: some BinaryInteger, _ length: UInt8, _ attributes: [UInt8]) -> [UInt8] {
            let payload = MessageBuilder.routeHeader(family: family, length: length) + attributes
            return MessageBuilder.message(type: RTM_NEWROUTE, payload: payload)
        }
        let messages: [[UInt8]] = [
            // Default routes.
            routeMessage(AF_INET, 0, []),
            routeMessage(AF_INET6, 0, []),
            // A length that cannot be.
            routeMessage(AF_INET, 33, MessageBuilder.attribute(RTA_DST.rawValue, address("203.0.113.1"))),
            routeMessage(AF_INET6, 129, MessageBuilder.attribute(RTA_DST.rawValue, address("2001:db8:ffff::"))),
            // No destination, or one behind an attribute with a length that cannot be.
            routeMessage(AF_INET, 24, []),
            routeMessage(AF_INET6, 64, MessageBuilder.attribute(RTA_OIF.rawValue, UInt32(3))),
            routeMessage(
                AF_INET, 24,
                MessageBuilder.attribute(RTA_OIF.rawValue, [1, 0, 0, 0], length: 3)
                    + MessageBuilder.attribute(RTA_DST.rawValue, address("203.0.113.1"))),
            // Other families.
            routeMessage(AF_MPLS, 20, MessageBuilder.attribute(RTA_DST.rawValue, [1, 2, 3, 4])),
            routeMessage(128, 32, MessageBuilder.attribute(RTA_DST.rawValue, [1, 2, 3, 4])),
            // Everything that is no route message.
            MessageBuilder.message(type: RTM_NEWLINK, payload: MessageBuilder.linkHeader(index: 3)),
            MessageBuilder.message(type: RTM_DELLINK, payload: MessageBuilder.linkHeader(index: 3)),
            MessageBuilder.message(type: RTM_NEWADDR, payload: [2, 24, 0, 0, 1, 0, 0, 0]),
            MessageBuilder.message(type: RTM_DELRULE, payload: MessageBuilder.routeHeader(family: AF_INET)),
            MessageBuilder.message(type: RTM_NEWNEXTHOP, payload: [2, 0, 0, 0]),
            MessageBuilder.message(type: NLMSG_ERROR, payload: [0, 0, 0, 0]),
            MessageBuilder.message(type: 0xffff, payload: []),
        ]
        for bytes in messages {
            #expect(try machine.run(bytes) != 0, "\(bytes)")
            #expect(sockets.passes(bytes), "\(bytes)")
        }
    }

    @Test("with no addresses, every route but a default route is dropped")
    func none() throws {
        let machine = PacketFilterMachine(program: EventFilter(addresses: []).program)
        #expect(try machine.run(MessageBuilder.routeEvent(address("198.51.100.0"), length: 24)) == 0)
        #expect(try machine.run(MessageBuilder.routeEvent(address("2001:db8::"), length: 32)) == 0)
        #expect(try machine.run(MessageBuilder.routeEvent(address("0.0.0.0"), length: 0)) != 0)
    }

    @Test("is short enough for the kernel, also with as many addresses as there may be")
    func length() {
        var random = SeededGenerator(seed: 5)
        for family in [IPAddress.Family.v4, .v6] {
            let addresses = (0..<EventFilter.addressLimit).map { _ in randomAddress(family, &random) }
            let filter = EventFilter(addresses: addresses)
            #expect(filter.program.count <= Int(BPF_MAXINSNS))
            #expect(FilteredSocketPair(filter) != nil, "\(filter.program.count) instructions")
        }
    }
}
