// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

/// A client of a target: writes down what is done with its context, and what it is told.
///
/// The log has a letter for each thing that happened, in order: + retain, - release, C callout.
final class Recorder: Sendable {
    struct Event: Equatable, Sendable {
        var flags: UInt32
        var thread: pthread_t
        var onQueue: String?
    }

    private struct State {
        var log = ""
        var events: [Event] = []
        var taken = 0
        var inCallout: (@Sendable (SCNetworkReachability, Recorder) -> Void)?
    }

    private let state = Guarded(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// Recorders stay for ever: how long a target holds on to one is what they are there to find out.
    init() {
        Recorder.all.withLock { $0.append(self) }
    }

    private static let all = Guarded<[Recorder]>([])

    var log: String { state.withLock { $0.log } }

    var count: Int { state.withLock { $0.events.count } }

    var flags: [UInt32] { state.withLock { $0.events.map(\.flags) } }

    func clearLog() { state.withLock { $0.log = "" } }

    /// What is to be done at the end of each callout.
    func inCallout(_ action: @escaping @Sendable (SCNetworkReachability, Recorder) -> Void) {
        state.withLock { $0.inCallout = action }
    }

    /// The next callout that was not asked for yet; waits for it.
    func next(_ location: SourceLocation = #_sourceLocation) throws -> Event {
        let isInTime = arrivals.wait(timeout: .now() + patience) == .success
        try #require(isInTime, "no callout came", sourceLocation: location)
        return state.withLock { state in
            defer { state.taken += 1 }
            return state.events[state.taken]
        }
    }

    /// A context with this recorder as its info.
    var context: SCNetworkReachabilityContext {
        SCNetworkReachabilityContext(
            version: 0, info: Unmanaged.passUnretained(self).toOpaque(),
            retain: { info in
                Recorder.at(info).write("+")
                return info
            },
            release: { info in Recorder.at(info).write("-") },
            copyDescription: { _ in Unmanaged.passRetained("a recorder" as CFString) })
    }

    /// Sets itself as the callback of a target.
    func attach(_ target: SCNetworkReachability) {
        var context = self.context
        #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
    }

    static let callout: SCNetworkReachabilityCallBack = {
        guard let info = $2 else { return }
        Recorder.at(info).called($0, $1)
    }

    static func at(_ info: UnsafeRawPointer) -> Recorder {
        Unmanaged<Recorder>.fromOpaque(info).takeUnretainedValue()
    }

    func write(_ letter: Character) {
        state.withLock { $0.log.append(letter) }
    }

    private func called(_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags) {
        write("C")
        let action = state.withLock { $0.inCallout }
        action?(target, self)
        let event = Event(
            flags: flags.rawValue, thread: pthread_self(), onQueue: DispatchQueue.getSpecific(key: queueName))
        state.withLock { $0.events.append(event) }
        arrivals.signal()
    }
}

let queueName = DispatchSpecificKey<String>()

extension DispatchQueue {
    /// A queue that a recorder can tell it was called on.
    static func named(_ name: String, _ attributes: DispatchQueue.Attributes = []) -> DispatchQueue {
        let queue = DispatchQueue(label: name, attributes: attributes)
        queue.setSpecific(key: queueName, value: name)
        return queue
    }
}

/// Whether something holds, at the latest when patience is over. For what other threads still have to do after a call
/// returned, such as to let go of an object that they were just busy with.
func comesTrue(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: patience)
    while Date() < end {
        if try condition() { return true }
        sched_yield()
    }
    return false
}
