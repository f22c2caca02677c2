// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// What is known of something that changes, and what its reader has seen of that.
protocol ChangeSource: Sendable {
    associatedtype Change: Sendable

    /// What the reader has not seen yet, which then counts as seen. Nil when that is nothing.
    mutating func take() -> Change?
}

/// Where a change waits for its reader, or a reader for the next change.
///
/// Nothing is queued: a reader that comes late is told how things are now, if that is another answer than the last it
/// was told. So memory does not grow with a reader that is slow, and a change that was undone meanwhile is none.
final class ChangeFeed<Source: ChangeSource>: Sendable {
    typealias Reader = CheckedContinuation<Source.Change?, Never>

    private struct State {
        var source: Source
        var readers: [Reader] = []
        var isFinished = false
        /// What ends the flow of changes into the feed. Gone once it was run.
        var end: (@Sendable () -> Void)?
    }

    private let state: Locked<State>

    init(_ source: Source) {
        state = Locked(State(source: source))
    }

    /// Takes in what ends the flow of changes, which is run when the feed is finished, if it is not already.
    func begin(endingWith end: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isFinished { state.end = end }
            return state.isFinished
        }
        if isLate { end() }
    }

    /// Changes what is known, and resumes a reader if there is something to read.
    func update(_ body: (inout Source) -> Void) {
        let (reader, change) = state.withLock { state -> (Reader?, Source.Change?) in
            body(&state.source)
            guard !state.isFinished, !state.readers.isEmpty, let change = state.source.take() else { return (nil, nil) }
            return (state.readers.removeFirst(), change)
        }
        reader?.resume(returning: change)
    }

    /// Waits for the next change. Nil when the feed is finished, which cancelling the task does.
    func next() async -> Source.Change? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                // Nil means that the reader has to wait.
                let answer = state.withLock { state -> Source.Change?? in
                    if state.isFinished { return .some(nil) }
                    if state.readers.isEmpty, let change = state.source.take() { return change }
                    state.readers.append(reader)
                    return nil
                }
                if let answer { reader.resume(returning: answer) }
            }
        } onCancel: {
            finish()
        }
    }

    /// Ends the flow of changes, and every sequence that reads from here.
    func finish() {
        let (readers, end) = state.withLock { state in
            let left = (state.readers, state.end)
            state.isFinished = true
            state.readers = []
            state.end = nil
            return left
        }
        end?()
        for reader in readers { reader.resume(returning: nil) }
    }
}

/// Finishes a feed when the last sequence or iterator that reads from it is gone.
final class FeedHandle<Source: ChangeSource>: Sendable {
    let feed: ChangeFeed<Source>

    init(_ feed: ChangeFeed<Source>) {
        self.feed = feed
    }

    deinit {
        feed.finish()
    }
}
