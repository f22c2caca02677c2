// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import ReachabilitySwift

/// The queue of this library whose work is done on the main dispatch queue: made at first use, and then kept.
enum MainQueue {
    private struct Driven {
        let queue: ReachabilityQueue
        /// Tells the main queue whenever the descriptor says that there is something to do.
        let source: any DispatchSourceRead
    }

    private static let driven = Locked<Driven?>(nil)

    static func reachability() throws(Errno) -> ReachabilityQueue {
        try driven.withLock { driven throws(Errno) in
            if let driven { return driven.queue }
            let queue = try ReachabilityQueue.manual()
            let descriptor = try queue.fileDescriptor()
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
            source.setEventHandler {
                // What is not done now keeps the descriptor readable.
                _ = try? queue.dispatch(timeout: 0)
            }
            source.activate()
            driven = Driven(queue: queue, source: source)
            return queue
        }
    }
}
