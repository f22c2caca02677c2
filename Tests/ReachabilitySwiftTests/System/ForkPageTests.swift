// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Glibc
import Testing

@testable import ReachabilitySwift

@Suite("ForkPage")
struct ForkPageTests {
    @Test("the first claim stands", arguments: [true, false])
    func claim(wiping: Bool) {
        let page = keptPage(wiping: wiping)
        #expect(page.value(.asker) == 0)
        #expect(page.claim(.asker, 7) == 7)
        #expect(page.claim(.asker, 8) == 7)
        #expect(page.value(.asker) == 7)
        #expect(page.value(.process) == 0)
        #expect(page.claim(.clients, 9) == 9)
        #expect(page.value(.clients) == 9)
    }

    /// With a page that the kernel wipes, and with one for which process ids are compared.
    @Test("a child begins with nothing, and what it claims is its own", arguments: [true, false])
    func child(wiping: Bool) throws {
        let page = keptPage(wiping: wiping)
        _ = page.claim(.asker, 7)
        _ = page.claim(.resolver, 8)
        let status = try #require(
            exitStatusOfChild {
                if page.value(.asker) != 0 { return 1 }
                if page.claim(.asker, 70) != 70 { return 2 }
                if page.value(.asker) != 70 { return 3 }
                if page.claim(.asker, 71) != 70 { return 4 }
                if page.value(.resolver) != 0 { return 5 }
                if page.value(.clients) != 0 || page.claim(.clients, 90) != 90 { return 6 }
                return 42
            })
        #expect(status == 42)
        #expect(page.value(.asker) == 7)
        #expect(page.value(.resolver) == 8)
        #expect(page.value(.clients) == 0)
    }

    @Test("a grandchild begins with nothing either", arguments: [true, false])
    func grandchild(wiping: Bool) throws {
        let page = keptPage(wiping: wiping)
        _ = page.claim(.asker, 7)
        let status = try #require(
            exitStatusOfChild {
                _ = page.claim(.asker, 70)
                let status = exitStatusOfChild {
                    page.value(.asker) == 0 && page.claim(.asker, 700) == 700 && page.value(.asker) == 700 ? 43 : 1
                }
                return status == 43 && page.value(.asker) == 70 ? 42 : 2
            })
        #expect(status == 42)
        #expect(page.value(.asker) == 7)
    }
}

/// Pages are kept for as long as their process, and so are those that the tests make: nothing is told as leaked.
private func keptPage(wiping: Bool) -> ForkPage {
    let page = ForkPage(wiping: wiping)
    pages.withLock { $0.append(page) }
    return page
}

private let pages = Locked<[ForkPage]>([])

/// Runs something in a forked child and gives its exit status; nil when it did not exit.
///
/// Swift hides fork, because a child of a process with threads may do next to nothing. What these children do is in
/// that little: loads, stores and getpid.
func exitStatusOfChild(_ body: () -> Int32) -> Int32? {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { return nil }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    guard child >= 0 else { return nil }
    if child == 0 { _exit(body()) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { return nil }
    }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : nil
}
