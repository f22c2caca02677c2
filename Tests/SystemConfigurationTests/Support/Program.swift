// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

/// A program that is running, what it says, and a way to end its input.
///
/// Foundation's Process waits by running the calling thread's run loop, and for as long as any other process has what
/// this one inherited. Here descriptors are close-on-exec from the beginning, and waiting is waitpid.
final class Program {
    private let process: pid_t
    private let output: Int32
    private var input: Int32
    private var rest: [UInt8] = []
    private var status: Int32?

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter arguments: the program, which is looked for in PATH, and its arguments.
    init(_ arguments: [String]) throws {
        let (input, itsInput) = try Program.pair()
        let (output, itsOutput) = try Program.pair()
        self.input = input
        self.output = output
        defer {
            close(itsInput)
            close(itsOutput)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, itsInput, 0)
        posix_spawn_file_actions_adddup2(&actions, itsOutput, 1)
        posix_spawn_file_actions_adddup2(&actions, itsOutput, 2)
        var pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process = pid_t()
        let error = posix_spawnp(&process, arguments[0], &actions, nil, &pointers, environ)
        guard error == 0 else { throw Failure(description: "\(arguments[0]): \(String(cString: strerror(error)))") }
        self.process = process
    }

    private static func pair() throws -> (ours: Int32, its: Int32) {
        var descriptors: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &descriptors) == 0 else {
            throw Failure(description: String(cString: strerror(errno)))
        }
        return (descriptors[0], descriptors[1])
    }

    /// One that nobody waited for to its end is ended, so that a test that has failed leaves none behind.
    deinit {
        if status == nil {
            kill(process, SIGKILL)
            _ = end()
        }
        closeInput()
        close(output)
    }

    /// The next line; an empty one when the program says nothing any more, or nothing for too long.
    func line() -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest.removeFirst(end + 1) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            if !readMore(for: patience) { return "" }
        }
    }

    /// All that the program says until it ends.
    func everything() -> String {
        while readMore(for: nil) {}
        return String(decoding: rest, as: UTF8.self)
    }

    private func readMore(for seconds: TimeInterval?) -> Bool {
        var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, seconds.map { Int32($0 * 1000) } ?? -1) > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(output, &bytes, bytes.count)
        guard count > 0 else { return false }
        rest += bytes[..<count]
        return true
    }

    func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Waits for its end. Returns what exit got; more than 255 when it was ended by a signal.
    func end() -> Int32 {
        var result: Int32 = 0
        while waitpid(process, &result, 0) < 0, errno == EINTR {}
        status = result & 0x7f == 0 ? (result >> 8) & 0xff : 256 + result
        return status ?? -1
    }

    /// Runs a program to its end. It must succeed.
    static func run(_ arguments: [String]) throws {
        let program = try Program(arguments)
        program.closeInput()
        let text = program.everything()
        let status = program.end()
        if status != 0 {
            throw Failure(description: "\(arguments.joined(separator: " ")) ended with \(status):\n\(text)")
        }
    }
}
