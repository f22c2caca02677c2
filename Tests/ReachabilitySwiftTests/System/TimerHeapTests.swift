// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("TimerHeap")
struct TimerHeapTests {
    private func deadline(_ nanoseconds: UInt64) -> Deadline { Deadline(nanoseconds: nanoseconds) }

    @Test("an empty one is never due")
    func empty() {
        var heap = TimerHeap()
        #expect(heap.next == .never)
        #expect(heap.popDue(.max) == nil)
    }

    @Test("gives what is due, the first one first, and no more")
    func order() {
        var heap = TimerHeap()
        let timers = (0..<4).map { _ in Timed() }
        for (timer, time) in zip(timers, [30, 10, 40, 20] as [UInt64]) { heap.set(timer, to: deadline(time)) }
        #expect(heap.next == deadline(10))
        #expect(heap.popDue(9) == nil)
        #expect(heap.popDue(25) === timers[1])
        #expect(heap.popDue(25) === timers[3])
        #expect(heap.popDue(25) == nil)
        #expect(heap.next == deadline(30))
    }

    @Test("setting again moves, and never takes out")
    func moves() {
        var heap = TimerHeap()
        let timer = Timed()
        heap.set(timer, to: deadline(10))
        heap.set(timer, to: deadline(50))
        #expect(heap.popDue(20) == nil)
        heap.set(timer, to: deadline(5))
        #expect(heap.popDue(20) === timer)
        heap.set(timer, to: deadline(5))
        heap.set(timer, to: .never)
        #expect(heap.next == .never)
    }

    @Test("taking out what is not in does nothing")
    func removes() {
        var heap = TimerHeap()
        var other = TimerHeap()
        let timer = Timed()
        heap.remove(timer)
        heap.set(timer, to: deadline(1))
        other.remove(timer)
        #expect(heap.popDue(1) === timer)
        heap.remove(timer)
        #expect(heap.next == .never)
    }

    @Test("agrees with a sorted list", arguments: [1, 2, 3] as [UInt64])
    func agrees(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        let timers = (0..<64).map { _ in Timed() }
        var model: [Int: UInt64] = [:]
        for _ in 0..<20_000 {
            let which = Int.random(in: 0..<timers.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let time = UInt64.random(in: 1...1000, using: &random)
                heap.set(timers[which], to: deadline(time))
                model[which] = time
            case 2:
                heap.remove(timers[which])
                model[which] = nil
            default:
                let now = UInt64.random(in: 0...300, using: &random)
                if let due = heap.popDue(now) {
                    let place = timers.firstIndex { $0 === due }
                    #expect(place != nil)
                    let time = place.flatMap { model.removeValue(forKey: $0) }
                    #expect(time != nil && time ?? .max <= now)
                    #expect(model.values.allSatisfy { $0 >= time ?? 0 })
                } else {
                    #expect(model.values.allSatisfy { $0 > now })
                }
            }
            #expect(heap.next.nanoseconds == model.values.min() ?? .max)
        }
    }
}
