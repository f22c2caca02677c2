// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

/// A number that changes, and the one that was read last.
private struct Number: ChangeSource {
    var current = 0
    var read = 0

    mutating func take() -> Int? {
        guard current != read else { return nil }
        read = current
        return current
    }
}

@Suite("ChangeFeed")
struct ChangeFeedTests {
    @Test("a reader that is late gets what holds, once")
    func lateReader() async {
        let feed = ChangeFeed(Number())
        for number in 1...5 { feed.update { $0.current = number } }
        #expect(await feed.next() == 5)
        feed.update { $0.current = 6 }
        feed.update { $0.current = 5 }
        feed.update { $0.current = 7 }
        #expect(await feed.next() == 7)
    }

    @Test("a reader that waits gets each change")
    func waiting() async {
        let feed = ChangeFeed(Number())
        let reading = Task {
            var heard: [Int] = []
            while let number = await feed.next() { heard.append(number) }
            return heard
        }
        let read = { feed.peek { $0.read } }
        for number in 1...50 {
            feed.update { $0.current = number }
            while read() != number { await Task.yield() }
        }
        feed.finish()
        #expect(await reading.value == Array(1...50))
    }

    @Test("finishing ends what flows in, once, and every reader")
    func finish() async {
        let feed = ChangeFeed(Number())
        let ends = Locked(0)
        feed.begin { ends.withLock { $0 += 1 } }
        let readers = (0..<3).map { _ in Task { await feed.next() } }
        feed.finish()
        feed.finish()
        for reader in readers { #expect(await reader.value == nil) }
        #expect(ends.withLock { $0 } == 1)
        feed.update { $0.current = 1 }
        #expect(await feed.next() == nil)
    }

    @Test("one that was finished before it began is ended at once")
    func finishedBefore() {
        let feed = ChangeFeed(Number())
        let ends = Locked(0)
        feed.finish()
        feed.begin { ends.withLock { $0 += 1 } }
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("cancelling the reader's task finishes it", arguments: 0..<20)
    func cancel(yields: Int) async {
        let feed = ChangeFeed(Number())
        let ends = Locked(0)
        feed.begin { ends.withLock { $0 += 1 } }
        let reader = Task { await feed.next() }
        for _ in 0..<yields { await Task.yield() }
        reader.cancel()
        #expect(await reader.value == nil)
        #expect(ends.withLock { $0 } == 1)
    }

    @Test("the last handle finishes it")
    func handle() {
        let feed = ChangeFeed(Number())
        let ends = Locked(0)
        feed.begin { ends.withLock { $0 += 1 } }
        do {
            let handle = FeedHandle(feed)
            let another = handle
            #expect(another.feed === feed)
            #expect(ends.withLock { $0 } == 0)
        }
        #expect(ends.withLock { $0 } == 1)
    }
}

extension ChangeFeed {
    /// Looks at the source without changing it.
    fileprivate func peek<Result>(_ body: (Source) -> Result) -> Result? {
        var result: Result?
        update { result = body($0) }
        return result
    }
}
