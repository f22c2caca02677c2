// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Glibc

/// Running other programs. Foundation's way needs a working loopback, which a new network namespace has not.
public enum Command {
    public struct Outcome: Sendable {
        /// As waitpid gives it.
        public let status: Int32
        /// What was written to both streams.
        public let output: String

        public var hasSucceeded: Bool { status == 0 }
    }

    /// Runs a program to its end, with no input.
    ///
    /// - Parameters:
    ///   - arguments: the program, looked for in the folders of PATH and of system programs, and its arguments.
    ///   - environment: added to this process's own.
    public static func run(_ arguments: [String], environment: [String: String] = [:]) -> Outcome {
        var ends: [Int32] = [-1, -1]
        // No pipe: another thread's child could get the end that is to be closed.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return Outcome(status: -1, output: "no sockets: \(errno)\n")
        }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)

        let withEnv = ["env", "PATH=\(path)"] + environment.map { "\($0.key)=\($0.value)" } + arguments
        var words = withEnv.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let error = posix_spawnp(&child, "env", &actions, nil, words, environ)
        close(ends[1])
        guard error == 0 else { return Outcome(status: -1, output: "cannot run \(arguments): \(error)\n") }

        let output = readAll(ends[0])
        var status: Int32 = -1
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return Outcome(status: status, output: signal == 0 ? output : output + "(ended by signal \(signal))\n")
    }

    private static let path: String = {
        let own = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return own + ":/usr/sbin:/sbin"
    }()

    private static func readAll(_ descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }
}
