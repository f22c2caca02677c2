// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// What a queue is made of: one event socket, the answers of what is scheduled, timers and callouts, all on one thread.
///
/// A change goes from the kernel's message to the callback on the thread that drives the reactor, with no hand-over.
/// That thread is the queue's own, or whichever one the caller dispatches a manual queue on.
///
/// Callouts are made without the lock; everything else happens under it, on any thread. Nothing that belongs to a
/// caller is ever let go under the lock: whoever removes a subscription holds a reference to it, and callouts that came
/// to nothing are dropped outside.
package final class Reactor: @unchecked Sendable {
    /// What epoll says is ready.
    private enum Token: UInt32 {
        case events, wake, timer, clockJump, configuration

        var bit: Int64 { 1 << Int64(rawValue) }
    }

    enum Callout {
        case subscription(Subscription)
        case post(Post)
    }

    /// How many subscriptions are judged with one set of buffers, so that memory does not grow with their number.
    private static let chunk = 512
    /// Suspend is told from two readings of two clocks that are not made at once.
    private static let resumeThreshold: UInt64 = 250_000_000
    private static let firstRetry: UInt64 = 100_000_000
    private static let longestRetry: UInt64 = 5_000_000_000

    package let process = ProcessMark.current
    package let hasThread: Bool
    package let lock = Lock()
    let clock: Clock

    private let epoll: FileDescriptor
    private let wake: FileDescriptor
    private let timer: FileDescriptor

    // Everything below is under the lock.

    /// Opened when something is first scheduled, and then kept.
    private var view: KernelView?
    private var clockJump: SharedDescriptor?
    var configuration: ResolverConfigurationWatch?
    private(set) var subscriptions: [Subscription] = []
    var lookups: [NameLookup] = []
    /// Look-ups that ended, with what they found; taken in by the thread that drives.
    var ended: [(lookup: NameLookup, request: HostResolver.Request, resolution: Resolution)] = []
    var timers = TimerHeap()
    private var callouts = Fifo<Callout>()

    /// The verdict on the internet at large, valid while somebody depends on it.
    private(set) var internet = Verdict()
    private var internetUsers = 0
    /// What the kernel said about each probe, and which of them have to be asked again, a range of places.
    private let internetProbes: [RouteQuestion]
    private var probes: [Verdict]
    private var dirtyProbes = 0..<0
    /// Probes that could not be asked and did not matter, since another one had a path: asked with the next ones.
    private var unknownProbes = 0..<0
    private var isEverythingDirty = false
    private var dirty: [Subscription] = []
    // Used within judge only; kept so that it allocates nothing. A chunk bounds them.
    private var questions: [RouteQuestion] = []
    private var starts: [Int] = []
    private var verdicts: [Verdict] = []
    private var failures: [KernelView.Failure] = []
    private var index = DestinationIndex()
    var isIndexStale = false
    /// The addresses that the event socket's filter lets through; nil when it has none.
    private var filtered: [IPAddress]?
    /// When a route that some verdict rests on goes by itself.
    private var expiry = Deadline.never

    private var limiter = RoundLimiter()
    /// No round before this, after the kernel could not be asked.
    private var retryAfter = Deadline.distantPast
    private var retryPause = Reactor.firstRetry
    /// While a round has to wait, the event socket is not listened to: what comes in the meantime wakes nobody.
    private var isListening = false
    private var armed = Deadline.never
    private var suspended: UInt64

    private var driver: pthread_t?
    private var isWakeUpPending = false
    private var isStopped = false
    private var isCalloutRunning = false
    private var calloutThread = pthread_self()
    private var calloutSerial: UInt64 = 0
    private var flushers = 0

    // An initialiser that throws would leave the half-made object's memory behind.
    package static func make(hasThread: Bool, clock: Clock) throws(Errno) -> Reactor {
        let epoll = try FileDescriptor(owning: clinux_epoll_create())
        let wake = try FileDescriptor(owning: clinux_eventfd())
        let timer = try FileDescriptor(owning: clinux_timerfd_monotonic())
        // It cannot fail later with what is written to it; but a sandbox may refuse it, and then had better do so now.
        if clinux_timerfd_set(timer.rawValue, 0) != 0 { throw Errno.last }
        let reactor = Reactor(hasThread, clock, epoll, wake, timer)
        try reactor.listen(to: reactor.wake, .wake)
        try reactor.listen(to: reactor.timer, .timer)
        return reactor
    }

    private init(
        _ hasThread: Bool, _ clock: Clock, _ epoll: consuming FileDescriptor, _ wake: consuming FileDescriptor,
        _ timer: consuming FileDescriptor
    ) {
        self.hasThread = hasThread
        self.clock = clock
        self.epoll = epoll
        self.wake = wake
        self.timer = timer
        internetProbes = Destination.internetProbes
        probes = [Verdict](repeating: Verdict(), count: internetProbes.count)
        suspended = clock.boottime() &- clock.monotonic()
    }

    private func listen(to fd: borrowing FileDescriptor, _ token: Token) throws(Errno) {
        try Syscalls.epollControl(epoll, EPOLL_CTL_ADD, fd, events: EPOLLIN.rawValue, token: token.rawValue)
    }

    /// Readable when there is something to do.
    package var descriptor: Int32 { epoll.rawValue }

    // MARK: Adding and removing

    /// Puts a subscription on the queue and judges it.
    package func add(_ subscription: Subscription) throws(Errno) {
        try lock.withLock { () throws(Errno) in
            guard !subscription.isCancelled else { return }
            // What was announced before this call counts: the links that are known may be out of date.
            _ = try openedView()
            hear()
            defer { arm() }
            let view = try openedView()
            subscription.slot = subscriptions.count
            subscriptions.append(subscription)
            if subscription.target.destination.dependsOnInternet { internetUsers += 1 }
            if let host = subscription.target.destination.hostToResolve { joinLookup(host, subscription) }
            isIndexStale = true
            settleFilter(view)
            do throws(Errno) {
                if subscription.target.destination.dependsOnInternet { try judgeInternet(view, probes.indices) }
                try judge([subscription][...], view)
            } catch {
                detach(subscription)
                throw error
            }
            subscription.begin(self)
            enqueueIfWanted(subscription)
            if let lookup = subscription.lookup, lookup.resolution == .none { startLookup(lookup) }
        }
        wakeUpIfNeeded()
    }

    /// Takes a subscription off the queue. No callout of it begins after this returned.
    package func remove(_ subscription: Subscription) {
        lock.withLock {
            guard !subscription.isCancelled else { return }
            subscription.isCancelled = true
            detach(subscription)
        }
    }

    private func detach(_ subscription: Subscription) {
        guard subscription.slot >= 0 else { return }
        let last = subscriptions.removeLast()
        if last !== subscription {
            subscriptions[subscription.slot] = last
            last.slot = subscription.slot
        }
        subscription.slot = -1
        subscription.isDirty = false
        if subscription.isListed {
            subscription.isListed = false
            dirty.removeAll { $0 === subscription }
        }
        if subscription.isQueued {
            subscription.isQueued = false
            callouts.remove { callout in
                if case .subscription(let queued) = callout { return queued === subscription }
                return false
            }
        }
        if subscription.target.destination.dependsOnInternet { internetUsers -= 1 }
        timers.remove(subscription)
        leaveLookup(subscription)
        isIndexStale = true
    }

    /// Has a subscription called out to again, even without a change.
    package func renotify(_ subscription: Subscription) {
        lock.withLock {
            guard !subscription.isCancelled, subscription.slot >= 0 else { return }
            enqueueIfWanted(subscription)
        }
        wakeUpIfNeeded()
    }

    /// Has a subscription judged again.
    package func rejudge(_ subscription: Subscription) {
        lock.withLock { rejudgeUnderLock(subscription) }
    }

    func rejudgeUnderLock(_ subscription: Subscription) {
        guard subscription.lookup != nil else { return }
        isIndexStale = true
        judgeSoon(subscription)
    }

    /// Under the lock.
    func judgeSoon(_ subscription: Subscription) {
        markDirty(subscription)
        arm()
    }

    /// Puts something in line that is to be run on the queue.
    package func post(_ post: Post) {
        lock.withLock { callouts.append(.post(post)) }
        wakeUpIfNeeded()
    }

    private func openedView() throws(Errno) -> KernelView {
        if let view { return view }
        let new = try KernelView.open(receiveBuffer: nil, clock: clock)
        try new.withEventDescriptor { (fd) throws(Errno) in try listen(to: fd, .events) }
        isListening = true
        filtered = nil
        view = new
        // Without it a resume is noticed at the next event instead.
        if clockJump == nil, let fd = try? FileDescriptor(owning: clinux_timerfd_clock_jump()) {
            try? listen(to: fd, .clockJump)
            clockJump = SharedDescriptor(fd)
        }
        return new
    }

    func watchConfiguration() {
        guard configuration == nil, let watch = try? ResolverConfigurationWatch.open() else { return }
        do throws(Errno) {
            try watch.withDescriptor { (fd) throws(Errno) in try listen(to: fd, .configuration) }
            configuration = watch
        } catch {
            // The next name that is scheduled tries again.
        }
    }

    // MARK: Driving

    /// What one run came to.
    package struct Outcome {
        package var callouts = 0
        /// A change of a target without a callback, when changes are wanted as data.
        package var change: (target: ReachabilityTarget, flags: ReachabilityFlags)?
    }

    /// Waits until something is due or the deadline has come, and does it.
    ///
    /// - Throws: wouldDeadlock from inside a callout, busy when another thread drives, interrupted when a signal came.
    package func run(until deadline: Deadline, asData: Bool = false) throws(Errno) -> Outcome {
        try enter()
        defer { leave() }
        var outcome = Outcome()
        while true {
            let timeout = lock.withLock { callouts.isEmpty ? deadline.pollTimeout(now: clock.monotonic()) : 0 }
            let ready = clinux_epoll_wait(epoll.rawValue, timeout)
            if ready < 0 { throw Errno.last }
            let isOver = lock.withLock {
                process(ready)
                return isStopped
            }
            deliver(asData: asData, &outcome)
            if !process.isCurrent { throw .stale }
            if outcome.change != nil || (outcome.callouts > 0 && !asData) || isOver { return outcome }
            if deadline.nanoseconds <= clock.monotonic() { return outcome }
        }
    }

    /// Drives the reactor until it is stopped.
    func runUntilStopped() {
        while !lock.withLock({ isStopped }) {
            do throws(Errno) {
                _ = try run(until: .never)
            } catch {
                // Nothing but a closed descriptor can be behind it, and that does not heal.
                guard error == .interrupted else { return }
            }
        }
    }

    /// Ends the thread that drives, after the callout that is running.
    func stop() {
        lock.withLock { isStopped = true }
        wakeUp()
    }

    private func enter() throws(Errno) {
        let thread = pthread_self()
        try lock.withLock { () throws(Errno) in
            if let driver { throw pthread_equal(driver, thread) != 0 ? .wouldDeadlock : .busy }
            driver = thread
        }
    }

    private func leave() {
        guard process.isCurrent else { return }
        lock.withLock { driver = nil }
        wakeUpIfNeeded()
    }

    func wakeUp() {
        let isFirst = lock.withLock {
            let isFirst = !isWakeUpPending
            isWakeUpPending = true
            return isFirst
        }
        if isFirst { Syscalls.signal(wake) }
    }

    /// Makes the descriptor readable when there is something in line.
    private func wakeUpIfNeeded() {
        if lock.withLock({ !callouts.isEmpty }) { wakeUp() }
    }

    /// Takes in everything that is ready, and evaluates what may have changed. Under the lock; never waits.
    private func process(_ ready: Int64) {
        if ready & Token.wake.bit != 0 {
            Syscalls.consume(wake)
            isWakeUpPending = false
        }
        if ready & Token.timer.bit != 0 {
            Syscalls.consume(timer)
            armed = .never
        }
        if ready & Token.clockJump.bit != 0, let clockJump { Syscalls.consume(clockJump.fd) }
        let now = clock.monotonic()
        noticeResume(now)
        if ready & Token.configuration.bit != 0, configuration?.readChanges() == true { refreshLookups(now) }
        takeEndedLookups()
        if ready & Token.events.bit != 0 { hear() }
        while let timed = timers.popDue(now) { timed.timeHasCome() }
        if expiry.nanoseconds <= now {
            expiry = .never
            isEverythingDirty = true
        }
        evaluateIfDue(now)
        arm()
    }

    /// Suspend is the time by which one clock went on and the other did not.
    private func noticeResume(_ now: UInt64) {
        let suspendedNow = clock.boottime() &- now
        // The smallest difference is the truest: time may pass between the two readings.
        suspended = min(suspended, suspendedNow)
        guard suspendedNow > suspended &+ Reactor.resumeThreshold else { return }
        suspended = suspendedNow
        isEverythingDirty = true
        refreshLookups(now)
    }

    private func refreshLookups(_ now: UInt64) {
        for lookup in lookups { refreshLookup(lookup, now: now) }
    }

    /// Sets the timer to whatever comes next.
    private func arm() {
        var next = min(timers.next, expiry)
        if hasWork || isDeaf { next = min(next, max(limiter.next, retryAfter, Deadline(nanoseconds: 1))) }
        guard next != armed else { return }
        armed = next
        _ = clinux_timerfd_set(timer.rawValue, next == .never ? 0 : next.nanoseconds)
    }

    // MARK: Hearing and judging

    /// The event socket is not listened to, which must not last: whoever it was taken out for may be gone by now.
    private var isDeaf: Bool { view != nil && !isListening }

    private var hasWork: Bool { isEverythingDirty || !dirtyProbes.isEmpty || !dirty.isEmpty }

    private func hear() {
        guard let view else { return }
        do throws(Errno) {
            _ = try view.drain { event in
                guard !isEverythingDirty else { return }
                if case .route(let prefix, let length) = event {
                    if isIndexStale { rebuildIndex(view) }
                    index.forEach(prefix: prefix, length: length) { slot in
                        if slot < 0 {
                            markDirty(probe: -1 - slot)
                        } else {
                            markDirty(subscriptions[slot])
                        }
                    }
                } else {
                    isEverythingDirty = true
                }
            }
        } catch {
            isEverythingDirty = true
            if error == .badDescriptor || error == .notSocket {
                // Somebody closed it. Another one is opened with the next round.
                view.abandon()
                self.view = nil
            }
        }
    }

    func markDirty(_ subscription: Subscription) {
        guard subscription.slot >= 0 else { return }
        subscription.isDirty = true
        if subscription.isListed { return }
        subscription.isListed = true
        dirty.append(subscription)
    }

    /// A route of one family has the probes of that family asked again, not those of the other.
    private func markDirty(probe place: Int) {
        dirtyProbes = Reactor.span(dirtyProbes, place..<place + 1)
    }

    /// The places from the first to the last of two ranges.
    private static func span(_ left: Range<Int>, _ right: Range<Int>) -> Range<Int> {
        if left.isEmpty { return right }
        if right.isEmpty { return left }
        return min(left.lowerBound, right.lowerBound)..<max(left.upperBound, right.upperBound)
    }

    private func evaluateIfDue(_ now: UInt64) {
        guard hasWork || isDeaf else { return }
        guard limiter.allows(now), retryAfter.nanoseconds <= now else {
            // If it cannot be taken out, what comes wakes us for nothing.
            try? setListening(false)
            return
        }
        limiter.take(now)
        do throws(Errno) {
            let view = try openedView()
            if !isListening {
                try setListening(true)
                hear()
            }
            try evaluate(view)
            retryPause = Reactor.firstRetry
        } catch {
            // The kernel could not be asked, so that nothing is known: nothing is said either, and it is asked again.
            isEverythingDirty = true
            retryAfter = Deadline(nanoseconds: now &+ retryPause)
            retryPause = min(retryPause * 2, Reactor.longestRetry)
        }
    }

    private func setListening(_ listens: Bool) throws(Errno) {
        guard listens != isListening, let view else { return }
        // Taken out, not silenced: epoll reports an overflow of the socket whatever events are asked for.
        try view.withEventDescriptor { (fd) throws(Errno) in
            if listens {
                try listen(to: fd, .events)
            } else {
                try Syscalls.epollControl(epoll, EPOLL_CTL_DEL, fd, events: 0, token: 0)
            }
        }
        isListening = listens
    }

    private func evaluate(_ view: KernelView) throws(Errno) {
        let all = isEverythingDirty
        if all { dirtyProbes = probes.indices }
        if !dirtyProbes.isEmpty, internetUsers > 0 { try judgeInternet(view, dirtyProbes) }
        dirtyProbes = 0..<0
        isEverythingDirty = false
        settleFilter(view)
        for subscription in dirty { subscription.isListed = false }
        let work = all ? subscriptions : dirty
        dirty.removeAll(keepingCapacity: work.count <= 64)
        var failure: Errno?
        var start = 0
        while start < work.count {
            let end = min(start + Reactor.chunk, work.count)
            do throws(Errno) { try judge(work[start..<end], view) } catch { failure = error }
            start = end
        }
        if let failure { throw failure }
    }

    /// Judges the internet at large; a change makes everybody dirty who depends on it, and has names looked up again.
    private func judgeInternet(_ view: KernelView, _ wanted: Range<Int>) throws(Errno) {
        let before = internet
        let places = Reactor.span(wanted, unknownProbes)
        unknownProbes = 0..<0
        verdicts.removeAll(keepingCapacity: true)
        failures.removeAll(keepingCapacity: true)
        try view.judge(internetProbes[places], into: &verdicts, failures: &failures)
        for (number, verdict) in verdicts.enumerated() { probes[places.lowerBound + number] = verdict }
        for failure in failures {
            let place = places.lowerBound + failure.place
            unknownProbes = Reactor.span(unknownProbes, place..<place + 1)
        }
        let verdict = FlagEvaluator.internetVerdict(probes)
        if let failure = failures.first, !verdict.flags.isOnline { throw failure.error }
        internet = verdict
        expiry = min(expiry, internet.expiry)
        let isSamePath =
            before.answer.isSame(as: internet.answer) && before.path.gateway == internet.path.gateway
            && before.path.source == internet.path.source
        if isSamePath, before.reason == internet.reason { return }
        for subscription in subscriptions where subscription.target.destination.dependsOnInternet {
            markDirty(subscription)
        }
        if !isSamePath { refreshLookups(clock.monotonic()) }
    }

    /// Judges some subscriptions together, and puts those in line whose answer is another one now.
    private func judge(_ batch: ArraySlice<Subscription>, _ view: KernelView) throws(Errno) {
        questions.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        for subscription in batch {
            starts.append(questions.count)
            subscription.target.destination.appendQuestions(resolution: subscription.resolution, to: &questions)
        }
        starts.append(questions.count)
        verdicts.removeAll(keepingCapacity: true)
        failures.removeAll(keepingCapacity: true)
        try view.judge(questions[...], into: &verdicts, failures: &failures)
        for (place, subscription) in batch.enumerated() {
            subscription.isDirty = false
            // What the kernel could not tell about one is no reason to keep the others waiting.
            let range = starts[place]..<starts[place + 1]
            if failures.contains(where: { range.contains($0.place) }) { continue }
            let verdict = subscription.target.destination.verdict(
                verdicts[range], internet: internet, resolution: subscription.resolution)
            subscription.current = verdict.answer
            expiry = min(expiry, verdict.expiry)
            enqueueIfWanted(subscription)
        }
        if let failure = failures.first { throw failure.error }
    }

    /// Brings one answer up to date when it may not be, without regard to how many rounds there were. What cannot be
    /// asked stays to be evaluated, and why is returned.
    func judgeNow(_ subscription: Subscription) -> Errno? {
        // What is heard here may be about others too, and will not wake the queue any more.
        defer { arm() }
        do throws(Errno) {
            _ = try openedView()
            hear()
            guard hasWork || isDeaf else { return nil }
            let view = try openedView()
            if subscription.target.destination.dependsOnInternet { try judgeInternet(view, probes.indices) }
            try judge([subscription][...], view)
            return nil
        } catch {
            isEverythingDirty = true
            return error
        }
    }

    func enqueueIfWanted(_ subscription: Subscription) {
        guard !subscription.isQueued, subscription.wantsCallout() else { return }
        subscription.isQueued = true
        callouts.append(.subscription(subscription))
    }

    // MARK: The filter and the index

    /// Before something new is judged: from here on no message about it may be dropped.
    private func settleFilter(_ view: KernelView) {
        guard isIndexStale else { return }
        if subscriptions.count <= EventFilter.addressLimit {
            rebuildIndex(view)
        } else {
            // With many subscriptions the index waits for the first message that needs it, so that adding stays cheap.
            setFilter(view, nil)
        }
    }

    private func rebuildIndex(_ view: KernelView) {
        var entries = [DestinationIndex.Entry]()
        if internetUsers > 0 {
            for (place, probe) in internetProbes.enumerated() {
                entries.append(.init(address: probe.destination, slot: -1 - place))
            }
        }
        var questions = [RouteQuestion]()
        for subscription in subscriptions {
            questions.removeAll(keepingCapacity: true)
            subscription.target.destination.appendQuestions(resolution: subscription.resolution, to: &questions)
            for question in questions { entries.append(.init(address: question.destination, slot: subscription.slot)) }
        }
        var addresses = [IPAddress]()
        for entry in entries where addresses.count <= EventFilter.addressLimit {
            let address = entry.address.unscoped
            if !addresses.contains(address) { addresses.append(address) }
        }
        setFilter(view, addresses.count <= EventFilter.addressLimit ? addresses : nil)
        index.rebuild(entries)
        isIndexStale = false
    }

    private func setFilter(_ view: KernelView, _ addresses: [IPAddress]?) {
        guard addresses != filtered else { return }
        do throws(Errno) {
            try view.setFilter(addresses.map { EventFilter(addresses: $0) })
            filtered = addresses
        } catch {
            // It is too large for this system's limits: then nothing is dropped.
            try? view.setFilter(nil)
            filtered = nil
        }
    }

    // MARK: Callouts

    /// Makes the callouts that are in line now; those that are put in line meanwhile are for the next run.
    private func deliver(asData: Bool, _ outcome: inout Outcome) {
        var remaining = lock.withLock { callouts.count }
        while remaining > 0, let callout = lock.withLock({ callouts.popFirst() }) {
            remaining -= 1
            switch callout {
            case .post(let post):
                lock.withLock { beginCallout() }
                let isMade = post.call()
                guard endCallout() else { return }
                if isMade { outcome.callouts += 1 }
            case .subscription(let subscription):
                let isPrepared = lock.withLock {
                    subscription.isQueued = false
                    guard !subscription.isCancelled, subscription.prepareCallout(asData: asData) else { return false }
                    beginCallout()
                    return true
                }
                guard isPrepared else { continue }
                outcome.change = subscription.makeCallout()
                guard endCallout(), outcome.change == nil else { return }
                outcome.callouts += 1
            }
        }
    }

    private func beginCallout() {
        isCalloutRunning = true
        calloutThread = pthread_self()
    }

    /// False in a child that was forked inside the callout: all of this is its parent's.
    private func endCallout() -> Bool {
        guard process.isCurrent else { return false }
        lock.withLock {
            isCalloutRunning = false
            calloutSerial &+= 1
            if flushers > 0 { lock.broadcast() }
        }
        return true
    }

    /// Waits until the callout that is running has ended.
    package func flush() throws(Errno) {
        try lock.withLock { () throws(Errno) in
            guard isCalloutRunning else { return }
            if pthread_equal(calloutThread, pthread_self()) != 0 { throw .wouldDeadlock }
            let serial = calloutSerial
            flushers += 1
            while isCalloutRunning, calloutSerial == serial { lock.wait() }
            flushers -= 1
        }
    }
}

/// Something that is run once on a queue.
package class Post: @unchecked Sendable {
    package init() {}

    /// Runs it, without any lock. Returns whether a caller was called.
    package func call() -> Bool { false }
}
