// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import SystemConfiguration

/// A thread that runs its run loop until it is stopped.
final class LoopThread: @unchecked Sendable {
    /// Who runs it.
    enum Runner: CaseIterable, Sendable {
        case coreFoundation, coreFoundationInMode, foundation
    }

    private(set) var loop: CFRunLoop!
    private(set) var thread = pthread_self()
    private let isStopping = Atomic(false)
    private let hasStarted = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(_ runner: Runner = .coreFoundation, mode: CFRunLoopMode = .defaultMode) {
        Thread.detachNewThread {
            self.loop = CFRunLoopGetCurrent()
            self.thread = pthread_self()
            let idle = IdleSource(mode)
            self.hasStarted.signal()
            while !self.isStopping.load(ordering: .acquiring) {
                switch runner {
                case .coreFoundation: CFRunLoopRun()
                case .coreFoundationInMode: CFRunLoopRunInMode(mode, 1e8, true)
                case .foundation: _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
            }
            idle.remove()
            self.hasEnded.signal()
        }
        hasStarted.wait()
    }

    func stop() {
        isStopping.store(true, ordering: .releasing)
        CFRunLoopStop(loop)
        hasEnded.wait()
    }
}

/// Something in a mode of the current loop that never has anything to do: a loop without anything in its mode ends at
/// once.
struct IdleSource {
    private let loop = CFRunLoopGetCurrent()
    private let mode: CFRunLoopMode
    private let source: CFRunLoopSource

    init(_ mode: CFRunLoopMode) {
        var context = CFRunLoopSourceContext()
        self.mode = mode
        source = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context)
        CFRunLoopAddSource(loop, source, mode)
    }

    func remove() {
        CFRunLoopRemoveSource(loop, source, mode)
    }
}
