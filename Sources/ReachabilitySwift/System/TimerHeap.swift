// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// Something that can be due at a point in time: it is its own timer.
package class Timed {
    package fileprivate(set) final var deadline = Deadline.never
    /// Place in the heap, -1 when it is not in one.
    fileprivate final var place = -1

    package init() {}

    /// Its time has come, and it is out of the heap. Called under the lock of the heap's owner.
    package func timeHasCome() {}
}

/// The timers of a queue, the next one first. Adding and removing take logarithmic time.
package struct TimerHeap {
    private var timers: [Timed] = []

    var next: Deadline { timers.first?.deadline ?? .never }

    /// Puts something in, or moves it to another time.
    mutating func set(_ timer: Timed, to deadline: Deadline) {
        remove(timer)
        guard deadline != .never else { return }
        timer.deadline = deadline
        timer.place = timers.count
        timers.append(timer)
        moveUp(timer.place)
    }

    /// Nothing happens for a timer that is not in the heap.
    mutating func remove(_ timer: Timed) {
        let place = timer.place
        guard place >= 0, place < timers.count, timers[place] === timer else { return }
        timer.place = -1
        let last = timers.removeLast()
        guard place < timers.count else { return }
        timers[place] = last
        last.place = place
        moveUp(place)
        moveDown(last.place)
    }

    mutating func popDue(_ now: UInt64) -> Timed? {
        guard let first = timers.first, first.deadline.nanoseconds <= now else { return nil }
        remove(first)
        return first
    }

    private mutating func moveUp(_ start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard timers[place].deadline < timers[parent].deadline else { return }
            swap(place, parent)
            place = parent
        }
    }

    private mutating func moveDown(_ start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < timers.count {
                if timers[child].deadline < timers[least].deadline { least = child }
            }
            guard least != place else { return }
            swap(place, least)
            place = least
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        timers.swapAt(left, right)
        timers[left].place = left
        timers[right].place = right
    }
}
