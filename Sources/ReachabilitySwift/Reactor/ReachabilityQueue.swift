// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Where callbacks run: a thread of its own, or the caller's event loop through a descriptor.
///
/// While something is scheduled on it, a queue is kept alive by that.
///
/// Mirrors a serial dispatch queue, or a run loop.
public final class ReachabilityQueue: @unchecked Sendable {
    package let reactor: Reactor

    private init(_ reactor: Reactor) {
        self.reactor = reactor
    }

    /// Makes a queue with a thread of its own, whose name is the label, cut to 15 bytes.
    package static func threaded(label: [UInt8], clock: Clock = .system) throws(Errno) -> ReachabilityQueue {
        let reactor = try Reactor.make(hasThread: true, clock: clock)
        try Thread.start(name: label, stackSize: nil) { reactor.runUntilStopped() }
        return ReachabilityQueue(reactor)
    }

    /// Makes a queue without a thread, which the caller drives.
    public static func manual() throws(Errno) -> ReachabilityQueue {
        try manual(clock: .system)
    }

    package static func manual(clock: Clock) throws(Errno) -> ReachabilityQueue {
        ReachabilityQueue(try Reactor.make(hasThread: false, clock: clock))
    }

    deinit {
        if reactor.process.isCurrent {
            reactor.stop()
        } else {
            // A parent's queue in a forked child: its lock may be locked for ever, and its descriptors' numbers may be
            // somebody else's.
            _ = Unmanaged.passRetained(reactor)
        }
    }

    package func checkProcess() throws(Errno) {
        if !reactor.process.isCurrent { throw .stale }
    }

    /// The descriptor of a manual queue: readable when there is something to dispatch.
    public func fileDescriptor() throws(Errno) -> Int32 {
        try checkProcess()
        if reactor.hasThread { throw .invalidArgument }
        return reactor.descriptor
    }

    /// Runs what is due on a manual queue, on the calling thread.
    ///
    /// - Parameter milliseconds: how long to wait for something to do; 0 does not wait, -1 waits for ever.
    /// - Returns: the number of callouts made.
    /// - Throws: invalidArgument for a queue with a thread, wouldDeadlock from inside a callback of the same queue,
    ///   busy when another thread is in it, interrupted when a signal came first.
    @discardableResult
    public func dispatch(timeout milliseconds: Int32) throws(Errno) -> Int {
        try drive(milliseconds, asData: false).callouts
    }

    /// Reads the next change of a target that has no callback, and runs the callbacks that are due meanwhile.
    ///
    /// - Parameter milliseconds: how long to wait; 0 does not wait, -1 waits for ever.
    /// - Returns: nil when the time is over.
    public func nextChange(
        timeout milliseconds: Int32
    ) throws(Errno) -> (target: ReachabilityTarget, flags: ReachabilityFlags)? {
        try drive(milliseconds, asData: true).change
    }

    private func drive(_ milliseconds: Int32, asData: Bool) throws(Errno) -> Reactor.Outcome {
        try checkProcess()
        if reactor.hasThread || milliseconds < -1 { throw .invalidArgument }
        return try reactor.run(until: Deadline(after: milliseconds, on: reactor.clock), asData: asData)
    }

    /// Waits until the callout that is running on the queue, if any, has ended.
    public func flush() throws(Errno) {
        try checkProcess()
        try reactor.flush()
    }
}
