// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// Waits for this machine, or for a path to a host, to be online, for at most so long:
//
//     swift run confirm [MILLISECONDS [HOST|ADDRESS]]     exits with 0 when online, 1 when offline

import Glibc
import ReachabilitySwift

@main
enum Confirm {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let timeout = arguments.first.flatMap { Int($0) } ?? 5000
        let target = try arguments.dropFirst().first.map { host in try ReachabilityTarget(host: host) }

        print("asking")
        fflush(nil)
        // "No" is not believed before the time is over; "yes" is, at once.
        let flags = try await (target ?? .internet).confirm(timeout: .milliseconds(timeout))
        print(flags.isOnline ? "online" : "offline")
        exit(flags.isOnline ? 0 : 1)
    }
}
