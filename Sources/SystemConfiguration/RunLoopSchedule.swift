// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

internal import ReachabilitySwift

/// On run loops, each in some modes.
///
/// As on macOS, the changes are found on a queue that nobody sees, and signal a run loop source that is in all the
/// loops and modes; the loop that gets to it first delivers. So it does not matter who runs a loop: CFRunLoopRun, or
/// Foundation's RunLoop.
final class RunLoopSchedule: Schedule, @unchecked Sendable {
    /// A loop and mode, and how often the target was scheduled there.
    private struct Entry {
        let loop: CFRunLoop
        let mode: CFRunLoopMode
        var count: Int
    }

    /// Drives the targets on all run loops, while there are any.
    private enum SharedPump {
        private static let lock = Lock()
        nonisolated(unsafe) private static weak var pump: Pump?

        static func get() throws(Errno) -> Pump {
            try lock.withLock { () throws(Errno) in
                if let pump { return pump }
                let new = try Pump(on: DispatchQueue(label: "SCNetworkReachability"))
                pump = new
                return new
            }
        }
    }

    // Owned by the schedule, under the target's lock.
    private var entries: [Entry] = []
    private var source: CFRunLoopSource?
    /// The flags that the last change told of.
    private var told = SCNetworkReachabilityFlags()

    private let pump: Pump

    /// On one loop in one mode at first.
    init(_ target: TargetObject, on loop: CFRunLoop, _ mode: CFRunLoopMode) throws(Errno) {
        pump = try SharedPump.get()
        super.init(target)
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(self).toOpaque()
        context.retain = { info in
            info.map { UnsafeRawPointer(Unmanaged<RunLoopSchedule>.fromOpaque($0).retain().toOpaque()) }
        }
        context.release = { info in
            if let info { Unmanaged<RunLoopSchedule>.fromOpaque(info).release() }
        }
        context.perform = { info in
            if let info { Unmanaged<RunLoopSchedule>.fromOpaque(info).takeUnretainedValue().perform() }
        }
        source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
        do throws(Errno) {
            try target.begin(on: pump.queue) { self.changed($0) }
        } catch {
            source = nil
            throw error
        }
        add(loop, mode)
    }

    func add(_ loop: CFRunLoop, _ mode: CFRunLoopMode) {
        if let place = place(loop, mode) {
            entries[place].count += 1
        } else {
            entries.append(Entry(loop: loop, mode: mode, count: 1))
            CFRunLoopAddSource(loop, source, mode)
        }
    }

    /// Takes one entry back, if there is one. Returns whether any is left.
    func remove(_ loop: CFRunLoop, _ mode: CFRunLoopMode) -> Bool {
        if let place = place(loop, mode) {
            entries[place].count -= 1
            if entries[place].count == 0 {
                entries.remove(at: place)
                CFRunLoopRemoveSource(loop, source, mode)
            }
        }
        return !entries.isEmpty
    }

    private func place(_ loop: CFRunLoop, _ mode: CFRunLoopMode) -> Int? {
        entries.firstIndex { $0.loop === loop && $0.mode == mode }
    }

    /// The source refers to this object while it exists. It is not invalidated: a loop that is about to perform it on
    /// another thread would have this object taken away under its hands.
    override func end() {
        super.end()
        for entry in entries { CFRunLoopRemoveSource(entry.loop, source, entry.mode) }
        entries.removeAll()
        source = nil
    }

    /// The queue that nobody sees may still be telling of a change: so that the last reference to the target, and the
    /// release of the client's info, are not left to that queue. Only our own code runs there, and not for long.
    override func settle() {
        try? pump.queue.flush()
    }

    /// On the queue that nobody sees.
    private func changed(_ flags: SCNetworkReachabilityFlags) {
        target.lock.withLock {
            told = flags
            signal()
        }
    }

    override func deliverLater() {
        target.lock.withLock { signal() }
    }

    /// Every loop is woken up, since the one that would get to the source first is not known; the others find nothing
    /// to do.
    private func signal() {
        guard let source else { return }
        CFRunLoopSourceSignal(source)
        for entry in entries { CFRunLoopWakeUp(entry.loop) }
    }

    /// On a loop's thread.
    private func perform() {
        let told = target.lock.withLock { self.told }
        target.deliver(target.flags(or: told), for: self)
    }
}
