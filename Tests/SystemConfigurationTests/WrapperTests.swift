// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

extension NetworkTests {
    /// Watcher, a wrapper in the manner of those that there are, which the consuming package is built with too.
    @Suite struct Wrappers {
        init() throws { try Network.begin() }

        /// The texts of the flags that a watcher tells.
        private final class Heard: Sendable {
            private let all = Guarded<[String]>([])
            private let arrivals = DispatchSemaphore(value: 0)

            func note(_ flags: SCNetworkReachabilityFlags) {
                all.withLock { $0.append(flags.description) }
                arrivals.signal()
            }

            func next() throws -> String {
                try #require(arrivals.wait(timeout: .now() + patience) == .success)
                return all.withLock { $0.removeFirst() }
            }

            var isEmpty: Bool { all.withLock { $0.isEmpty } }
        }

        private let online = "-R--------"
        private let offline = "----------"

        private func makeWatcher(
            _ heard: Heard, _ watcher: () throws -> Watcher = { try Watcher() }
        ) rethrows -> Watcher {
            let watcher = try watcher()
            watcher.whenChanged = { heard.note($0) }
            return watcher
        }

        @Test func theFirstNotificationIsByHand() throws {
            let heard = Heard()
            let watcher = try makeWatcher(heard)
            try watcher.start()
            #expect(try heard.next() == offline)
            try Network.addRoute()
            #expect(try heard.next() == online)
            #expect(watcher.flags == .reachable)
            watcher.stop()
        }

        @Test func aWatcherCanBeStartedAgain() throws {
            let heard = Heard()
            let watcher = try makeWatcher(heard)
            for _ in 0..<3 {
                try watcher.start()
                #expect(watcher.isRunning)
                watcher.stop()
                #expect(!watcher.isRunning)
            }
            try watcher.start()
            #expect(try heard.next() == offline)
            try Network.addRoute()
            #expect(try heard.next() == online)
            watcher.stop()
        }

        @Test func aWatcherCanStopItselfInItsCallback() throws {
            let heard = Heard()
            let watcher = try makeWatcher(heard)
            try watcher.start()
            #expect(try heard.next() == offline)
            watcher.whenChanged = { [unowned watcher] in
                watcher.stop()
                heard.note($0)
            }
            try Network.addRoute()
            #expect(try heard.next() == online)
            #expect(comesTrue { !watcher.isRunning })
            try Network.deleteRoute()
            try watcher.start()
            #expect(try heard.next() == offline)
        }

        @Test func aWatcherThatIsLetGoWhileItRunsIsGone() throws {
            let heard = Heard()
            weak var gone: Watcher?
            weak var goneTarget: SCNetworkReachability?
            do {
                let target = try addressTarget("0.0.0.0")
                goneTarget = target
                let watcher = makeWatcher(heard) { Watcher(target: target) }
                gone = watcher
                try watcher.start()
                #expect(try heard.next() == offline)
            }
            #expect(gone == nil)
            #expect(comesTrue { goneTarget == nil })
            let witness = Witness()
            try Network.addRoute()
            try witness.waitUntilTold()
            #expect(heard.isEmpty)
        }

        @Test func targetsOfEveryKindAreWatched() throws {
            let targets = [
                try addressTarget("::"), try pairTarget("10.1.0.2", "8.8.8.8"), try nameTarget("far.example"),
                try addressTarget("8.8.8.8"),
            ]
            for target in targets {
                let heard = Heard()
                let watcher = makeWatcher(heard) { Watcher(target: target) }
                try watcher.start()
                #expect(try heard.next() == offline)
                try Network.addRoute()
                #expect(try heard.next() == online)
                try Network.deleteRoute()
                #expect(try heard.next() == offline)
                watcher.stop()
            }
        }
    }
}
