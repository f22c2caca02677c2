// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import Foundation

/// A Swift program with the full runtime in it, which loads the small library with its own, embedded one. Neither may
/// get in the other's way: objects are made, counted and freed on both sides, from several threads.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [String: Int] = [:]

    func add(_ key: String) {
        lock.withLock { counts[key, default: 0] += 1 }
    }

    func value(_ key: String) -> Int {
        lock.withLock { counts[key] ?? 0 }
    }
}

func expect(_ what: String, _ isSo: Bool) {
    print("\(what): \(isSo ? "as it should be" : "WRONG")")
    if !isSo { exit(1) }
}

let counter = Counter()
let queue = reach_queue_create("swift")
expect("a queue", queue != nil)

DispatchQueue.concurrentPerform(iterations: 8) { thread in
    for round in 0..<50 {
        let name = "localhost"
        guard let target = reach_create_with_name(name) else { return counter.add("no target") }
        var flags: reach_flags = 0
        if reach_get_flags(target, &flags) && flags == 0x30002 { counter.add("right") }
        let info = Unmanaged.passRetained(counter)
        _ = reach_set_callback(
            target, { _, _, info in Unmanaged<Counter>.fromOpaque(info!).takeUnretainedValue().add("called") },
            info.toOpaque(),
            { info in
                let counter = Unmanaged<Counter>.fromOpaque(info!)
                counter.takeUnretainedValue().add("released")
                counter.release()
            })
        if reach_set_queue(target, queue) { counter.add("scheduled") }
        let texts = (0..<20).map { "\(thread)-\(round)-\($0)" }.sorted().joined(separator: ",")
        if texts.isEmpty { counter.add("empty") }
        if reach_set_queue(target, nil) { counter.add("unscheduled") }
        reach_release(target)
    }
}
expect("flushing", reach_queue_flush(queue))
reach_queue_release(queue)
expect("answers", counter.value("right") == 400)
expect("schedules", counter.value("scheduled") == 400 && counter.value("unscheduled") == 400)
let deadline = Date(timeIntervalSinceNow: 15)
while counter.value("released") < 400, Date() < deadline { sched_yield() }
expect("releases", counter.value("released") == 400)
expect("callbacks", counter.value("called") <= 400)
