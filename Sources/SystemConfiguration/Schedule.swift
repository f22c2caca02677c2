// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

internal import ReachabilitySwift

/// Where a target's changes are delivered.
///
/// It refers to the target, and through the core's callback the target to it, until it is ended. All of it happens
/// under the target's lock, but for deliveries.
class Schedule: @unchecked Sendable {
    final let target: TargetObject

    init(_ target: TargetObject) {
        self.target = target
    }

    /// Delivers once more, even without a change. Without the lock.
    func deliverLater() {}

    /// After this the core has nothing to tell any more.
    func end() {
        target.end()
    }

    /// After it was ended, and without the lock: waits for threads of ours that may still have to do with the target.
    func settle() {}
}

/// On a dispatch queue, which drives a queue of the target's own: a change goes from the kernel's message to the
/// callback on it. Through a serial queue that targets it and has its label: so the callouts are on the client's queue,
/// and do not overlap when that is a concurrent one.
final class DispatchSchedule: Schedule, @unchecked Sendable {
    private let serialQueue: DispatchQueue
    private let pump: Pump

    init(_ target: TargetObject, on clientQueue: DispatchQueue) throws(Errno) {
        serialQueue = DispatchQueue(label: clientQueue.label, target: clientQueue)
        pump = try Pump(on: serialQueue)
        super.init(target)
        try target.begin(on: pump.queue) { target.deliver($0, for: self) }
    }

    override func deliverLater() {
        serialQueue.async { self.target.deliver(self.target.flags(or: []), for: self) }
    }
}

/// Drives a queue of the core's on a dispatch queue, for as long as it exists.
final class Pump: @unchecked Sendable {
    let queue: ReachabilityQueue
    private let source: any DispatchSourceRead

    init(on dispatchQueue: DispatchQueue) throws(Errno) {
        let queue = try ReachabilityQueue.manual()
        self.queue = queue
        source = DispatchSource.makeReadSource(fileDescriptor: try queue.fileDescriptor(), queue: dispatchQueue)
        source.setEventHandler { _ = try? queue.dispatch(timeout: 0) }
        // Dispatch has done with the descriptor only when the cancellation is through. The queue closes it, so it stays
        // till then.
        source.setCancelHandler { withExtendedLifetime(queue) {} }
        source.activate()
    }

    deinit {
        source.cancel()
    }
}
