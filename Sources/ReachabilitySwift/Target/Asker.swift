// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Answers "what are the flags now?" for the whole process, on the thread that asks.
///
/// One socket hears of changes. When it has nothing to read, whatever was asked before is still so, and a kept verdict
/// is the kernel's own; when it has, everything kept counts as out of date. No thread and no loop is needed.
package final class Asker: ProcessObject, @unchecked Sendable {
    private static var local: ForkLocal<Asker> { ForkLocal(.asker) { Asker(clock: .system) } }

    package static var current: Asker { local.current }

    /// All that is wanted is "did anything change": a small buffer lets the kernel drop the rest of a storm early.
    private static let receiveBuffer: Int32 = 8192

    /// Guards everything here, and what targets keep for the asker. No other lock is taken under it.
    private let lock = Lock()
    private let clock: Clock
    private var view: KernelView?
    /// Grows whenever something was heard. It begins with the time, so that a forked child never takes what its parent
    /// kept for its own.
    private var generation: UInt64
    /// The generation that it began with, which no other process's asker has.
    private let mark: UInt64
    private var internet = Verdict()
    private var internetGeneration: UInt64 = 0
    private let probes = Destination.internetProbes

    /// For those who only ask about the internet at large.
    package let internetTarget = ReachabilityTarget(.internet)

    package init(clock: Clock) {
        self.clock = clock
        generation = clock.boottime() | 1
        mark = generation
    }

    /// The flags, and whether they were asked for again.
    func flags(of target: ReachabilityTarget) throws(Errno) -> (ReachabilityFlags, isNew: Bool) {
        lock.lock()
        defer { lock.unlock() }
        if let view, target.askedGeneration == generation, target.askedLasts, view.isQuiet() {
            return (target.askedFlags, false)
        }
        let isNew = try refresh(target)
        return (target.askedFlags, isNew)
    }

    func verdict(of target: ReachabilityTarget) throws(Errno) -> (Verdict, generation: UInt64, isNew: Bool) {
        lock.lock()
        defer { lock.unlock() }
        let isNew = try refresh(target)
        return (target.asked, generation, isNew)
    }

    /// What was said last.
    func answer(for target: ReachabilityTarget) -> Answer {
        lock.withLock { target.asked.answer }
    }

    /// Closes the parent's sockets in a forked child, and lets go of everything else. A daemon may have closed them,
    /// and got their numbers again.
    package override func discardAfterFork() -> Bool {
        guard lock.tryLock() else { return false }
        view?.abandonIfReplaced()
        lock.unlock()
        return true
    }

    /// Puts in place what is known of a target's addresses. From then on that is for this resolver to say: another one
    /// may be about to leave the target, which is taken off one queue and put onto the next at the same time.
    func beginSharing(_ resolution: Resolution, with target: ReachabilityTarget, by resolver: UInt) {
        lock.withLock {
            target.resolver = resolver
            target.resolutionMark = mark
            setResolution(resolution, of: target)
        }
    }

    func share(_ resolution: Resolution, with target: ReachabilityTarget, by resolver: UInt) {
        lock.withLock {
            if target.resolver == resolver { setResolution(resolution, of: target) }
        }
    }

    func endSharing(with target: ReachabilityTarget, by resolver: UInt) {
        lock.withLock {
            guard target.resolver == resolver else { return }
            target.resolver = 0
            setResolution(.none, of: target)
        }
    }

    private func setResolution(_ resolution: Resolution, of target: ReachabilityTarget) {
        target.resolution = resolution
        target.askedGeneration = 0
    }

    /// What a parent process found out is not known to its child.
    private func resolution(of target: ReachabilityTarget) -> Resolution {
        target.resolutionMark == mark ? target.resolution : .none
    }

    @inline(never)
    private func refresh(_ target: ReachabilityTarget) throws(Errno) -> Bool {
        do throws(Errno) {
            return try refreshOnce(target)
        } catch {
            // Programs that become daemons close every descriptor they find. The numbers may be somebody else's by now,
            // so that they must not be closed again.
            guard error == .badDescriptor || error == .notSocket else { throw error }
            view?.abandon()
            view = nil
            generation &+= 1
            return try refreshOnce(target)
        }
    }

    private func refreshOnce(_ target: ReachabilityTarget) throws(Errno) -> Bool {
        let view = try openedView()
        // When the look fails, nothing that was known counts either.
        let before = generation
        generation &+= 1
        if try !view.drain({ _ in }), !view.hasUserChanged { generation = before }
        if target.askedGeneration == generation, !hasExpired(target.asked) { return false }
        if target.destination.dependsOnInternet { try refreshInternet(view) }
        target.asked = try judge(target, view)
        target.askedGeneration = generation
        target.askedFlags = target.asked.flags
        target.askedLasts = target.asked.expiry == .never && !view.dependsOnUser
        return true
    }

    private func openedView() throws(Errno) -> KernelView {
        if let view { return view }
        let new = try KernelView.open(receiveBuffer: Asker.receiveBuffer, clock: clock)
        view = new
        return new
    }

    private func refreshInternet(_ view: KernelView) throws(Errno) {
        if internetGeneration == generation, !hasExpired(internet) { return }
        internet = try view.judgeInternet(probes)
        internetGeneration = generation
    }

    private func judge(_ target: ReachabilityTarget, _ view: KernelView) throws(Errno) -> Verdict {
        var questions = [RouteQuestion]()
        let resolution = resolution(of: target)
        target.destination.appendQuestions(resolution: resolution, to: &questions)
        let verdicts = questions.isEmpty ? [] : try verdicts(questions, view)
        return target.destination.verdict(verdicts[...], internet: internet, resolution: resolution)
    }

    private func verdicts(_ questions: [RouteQuestion], _ view: KernelView) throws(Errno) -> [Verdict] {
        var verdicts = [Verdict]()
        var failures = [KernelView.Failure]()
        try view.judge(questions[...], into: &verdicts, failures: &failures)
        if let failure = failures.first { throw failure.error }
        return verdicts
    }

    private func hasExpired(_ verdict: Verdict) -> Bool {
        verdict.expiry != .never && verdict.expiry.nanoseconds <= clock.monotonic()
    }
}
