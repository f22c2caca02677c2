// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// A name that somebody on a queue wants to know the addresses of. Subscriptions for the same name share it.
///
/// Owned by the reactor, under its lock.
package final class NameLookup: Timed, @unchecked Sendable {
    private let reactor: Reactor
    let host: [UInt8]
    var resolution = Resolution.none
    var subscriptions: [Subscription] = []
    /// The look-up that is under way.
    var request: HostResolver.Request?
    /// Something changed while it was.
    var isWantedAgain = false
    /// When a look-up that was under way was last given up for a new one.
    var lastGivenUp: UInt64?
    private(set) var failures: UInt64 = 0

    init(_ host: [UInt8], _ reactor: Reactor) {
        self.host = host
        self.reactor = reactor
    }

    /// The pause after a failure is over.
    package override func timeHasCome() {
        reactor.startLookup(self)
    }

    /// How long to wait after a failure, in milliseconds: 1 s, doubling to 60 s, and up to a quarter more, so that many
    /// programs that failed together do not ask again together.
    func pauseAfterFailure(jitter: UInt64) -> UInt64 {
        let pause = min(1000 << min(failures, 6), 60_000 as UInt64)
        failures += 1
        return pause + jitter % (pause / 4)
    }

    /// The pauses begin anew: the look-up worked, or what it may have failed for has changed.
    func forgetFailures() {
        failures = 0
    }

    static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}

extension Reactor {
    /// Joins a subscription to the look-up of its name. Under the lock.
    func joinLookup(_ host: [UInt8], _ subscription: Subscription) {
        let place = lookupPlace(host)
        let lookup: NameLookup
        if place < lookups.count, lookups[place].host == host {
            lookup = lookups[place]
        } else {
            lookup = NameLookup(host, self)
            lookups.insert(lookup, at: place)
        }
        lookup.subscriptions.append(subscription)
        subscription.lookup = lookup
        subscription.beginSharing(lookup.resolution)
        watchConfiguration()
    }

    /// Takes a subscription away from its look-up, and ends that with its last one. Under the lock.
    func leaveLookup(_ subscription: Subscription) {
        guard let lookup = subscription.lookup else { return }
        subscription.lookup = nil
        subscription.endSharing()
        if let place = lookup.subscriptions.firstIndex(where: { $0 === subscription }) {
            lookup.subscriptions.remove(at: place)
        }
        guard lookup.subscriptions.isEmpty else { return }
        if let request = lookup.request { _ = HostResolver.current.cancel(request) }
        lookup.request = nil
        timers.remove(lookup)
        // An answer that nobody took in any more would keep the look-up, and that its reactor.
        ended.removeAll { $0.lookup === lookup }
        let place = lookupPlace(lookup.host)
        if place < lookups.count, lookups[place] === lookup { lookups.remove(at: place) }
    }

    private func lookupPlace(_ host: [UInt8]) -> Int {
        var low = 0
        var high = lookups.count
        while low < high {
            let middle = (low + high) / 2
            if NameLookup.precedes(lookups[middle].host, host) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Looks a name up, unless there is no path on which an answer could come: then the next change of the path does.
    func startLookup(_ lookup: NameLookup) {
        guard lookup.request == nil, !internet.flags.isEmpty else { return }
        timers.remove(lookup)
        do throws(Errno) {
            lookup.request = try HostResolver.current.resolve(lookup.host) { request, resolution in
                self.lookupEnded(lookup, request, resolution)
            }
        } catch {
            settleLookup(lookup, .failed)
        }
    }

    /// Looks a name up again because what it means may have changed. One that is under way is given up for it, though
    /// not many times in a row: each one that hangs holds up a thread.
    func refreshLookup(_ lookup: NameLookup, now: UInt64) {
        lookup.forgetFailures()
        if let request = lookup.request {
            if let last = lookup.lastGivenUp, now &- last < Reactor.pauseBetweenGivingUp {
                lookup.isWantedAgain = true
                return
            }
            lookup.request = nil
            if HostResolver.current.cancel(request) { lookup.lastGivenUp = now }
        }
        startLookup(lookup)
    }

    private static let pauseBetweenGivingUp: UInt64 = 5_000_000_000

    /// On a thread of the resolver.
    private func lookupEnded(_ lookup: NameLookup, _ request: HostResolver.Request, _ resolution: Resolution) {
        let isWanted = lock.withLock {
            guard lookup.request === request else { return false }
            ended.append((lookup, request, resolution))
            return true
        }
        if isWanted { wakeUp() }
    }

    /// Takes in the answers that came. Under the lock.
    func takeEndedLookups() {
        guard !ended.isEmpty else { return }
        let answers = ended
        ended.removeAll()
        // One that was given up for a new look-up in the meantime is about the network as it was.
        for (lookup, request, resolution) in answers where lookup.request === request {
            lookup.request = nil
            settleLookup(lookup, resolution)
            if lookup.isWantedAgain {
                lookup.isWantedAgain = false
                startLookup(lookup)
            }
        }
    }

    private func settleLookup(_ lookup: NameLookup, _ resolution: Resolution) {
        if resolution == .failed {
            let now = clock.monotonic()
            let pause = lookup.pauseAfterFailure(jitter: (now ^ (now >> 13)) & 0xffff)
            timers.set(lookup, to: Deadline(nanoseconds: now).advanced(byMilliseconds: pause))
        } else {
            lookup.forgetFailures()
        }
        guard lookup.resolution != resolution else { return }
        lookup.resolution = resolution
        isIndexStale = true
        for subscription in lookup.subscriptions {
            subscription.share(resolution)
            markDirty(subscription)
        }
    }
}
