// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// Says whether this machine is online, and every change of that, until its input ends:
//
//     swift run watch

import Dispatch
import Glibc
import ReachabilitySwift

@main
enum Watch {
    static func main() async throws {
        let internet = ReachabilityTarget.internet
        // First the changes, then the question: so nothing is missed in between.
        let changes = try internet.changes()
        say("online: \(try internet.flags().isOnline ? "yes" : "no")")

        let reading = Task {
            var count = 0
            for await flags in changes {
                say("change: \(flags)")
                count += 1
            }
            return count
        }
        await endOfInput()
        reading.cancel()
        say("\(await reading.value) changes")
        say("bye")
    }

    /// Waits on a thread that may be kept waiting.
    private static func endOfInput() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                while readLine() != nil {}
                continuation.resume()
            }
        }
    }

    /// Writes a line at once, also where the output is no terminal.
    private static func say(_ line: String) {
        let bytes = [UInt8]((line + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}
