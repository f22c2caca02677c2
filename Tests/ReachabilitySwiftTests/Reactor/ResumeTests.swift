// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import ReachabilityTestSupport
import Testing

@testable import ReachabilitySwift

@Suite("Resume")
struct ResumeTests {
    /// In a network that nobody else changes, with a clock that has been suspended: this program is run once more for
    /// it.
    @Test(
        "after a suspend everything is judged again, and names are looked up again",
        .enabled(if: ScenarioProgram.canRun, "\(ScenarioProgram.whySkipped)"))
    func resume() async {
        let outcome = await ScenarioProgram.tests.run(
            "--testing-library", "swift-testing", "--filter", "ResumeInsideTests")
        #expect(outcome.hasSucceeded && outcome.output.contains("with 1 test in 1 suite passed"), "\(outcome.output)")
    }
}

@Suite("Resume, inside", .enabled(if: ScenarioProgram.isInside, "it is run by the one above"))
struct ResumeInsideTests {
    @Test("everything is asked again")
    func everything() throws {
        let server = try #require(SilentNameServer())
        let ethernet = Network.addEthernet()
        Network.setNameServer("127.0.0.1")
        ethernet.takeDefaultRoute()
        let clock = AdjustableClock()
        let queue = try ReachabilityQueue.manual(clock: clock)
        let plain = Subscription(ReachabilityTarget.internet, queue: queue, owesCallback: false)
        try queue.reactor.add(plain)
        let named = Subscription(try ReachabilityTarget(host: "host.example"), queue: queue, owesCallback: false)
        try queue.reactor.add(named)
        let first = try #require(server.nextAsker())
        while try queue.dispatch(timeout: 0) > 0 {}

        // An answer that cannot be, to see whether it is asked for again.
        let impossible = Verdict(flags: [.interventionRequired])
        func flagsAfterDispatch() throws -> ReachabilityFlags {
            try queue.dispatch(timeout: 0)
            return queue.reactor.lock.withLock { plain.current.flags }
        }
        queue.reactor.lock.withLock { plain.current = impossible.answer }
        #expect(try flagsAfterDispatch() == impossible.flags, "nothing happened")

        // Less than the error of two readings is no suspend.
        clock.suspend(forNanoseconds: 1_000_000)
        #expect(try flagsAfterDispatch() == impossible.flags)

        clock.suspend(forNanoseconds: 30_000_000_000)
        #expect(try flagsAfterDispatch() == [.reachable])
        let second = try #require(server.nextAsker())
        #expect(second != first)

        // Once for each suspend.
        queue.reactor.lock.withLock { plain.current = impossible.answer }
        #expect(try flagsAfterDispatch() == impossible.flags)
        queue.reactor.remove(plain)
        queue.reactor.remove(named)
    }
}

/// A name server on the loopback that never answers, and tells who asked.
private final class SilentNameServer {
    private let descriptor: Int32
    private var lastAsker: in_port_t = 0

    init?() {
        ip("link set lo up")
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(53).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafeBytes(of: address) { bytes in
            bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        var patience = timeval(tv_sec: Patience.limitSeconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard result == 0, setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size) == 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    /// The port that the next look-up comes from, of which each has its own; what else comes from the last one is
    /// passed over.
    func nextAsker() -> in_port_t? {
        while true {
            var question = [UInt8](repeating: 0, count: 512)
            var sender = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutableBytes(of: &sender) { bytes in
                recvfrom(
                    descriptor, &question, question.count, 0,
                    bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
            guard count > 0 else { return nil }
            if sender.sin_port != lastAsker {
                lastAsker = sender.sin_port
                return sender.sin_port
            }
        }
    }
}
