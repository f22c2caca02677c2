// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// A program of scenarios, and running them from a test, each in user, network and mount namespaces of its own.
public struct ScenarioProgram: Sendable {
    private let executable: URL

    private init(_ executable: URL) {
        self.executable = executable
    }

    /// A program that was built beside the tests.
    public init(_ name: String) {
        let folder = ScenarioProgram.tests.executable.deletingLastPathComponent()
        self.init(folder.appending(path: name))
    }

    /// The program of the tests, for a test that needs both a namespace and the inside of the module.
    public static let tests = ScenarioProgram(URL(filePath: "/proc/self/exe").resolvingSymlinksInPath())

    /// Whether this process is one that was run in namespaces of its own.
    public static let isInside = ProcessInfo.processInfo.environment[mark] != nil

    private static let mark = "REACH_TEST_INSIDE_NAMESPACES"

    /// The names of its scenarios, which it prints when it is run without any. Empty when it cannot be run.
    public var scenarios: [String] {
        let outcome = Command.run([executable.path])
        return outcome.hasSucceeded ? outcome.output.split(separator: "\n").map(String.init) : []
    }

    /// Whether this machine lets us have namespaces. Where CI is true they have to be there, and what needs them fails.
    public static let canRun: Bool = {
        let environment = ProcessInfo.processInfo.environment
        if environment["CI"] == "true" || environment["CI"] == "1" { return true }
        return Command.run(unshare + ["ip", "link", "set", "lo", "up"]).hasSucceeded
    }()

    /// What a skipped test says.
    public static let whySkipped = """
        no namespaces: it takes "unshare" of util-linux, "ip" of iproute2, and a kernel that lets this user have them
        """

    /// Runs a scenario, or the program with any other arguments.
    public func run(_ arguments: String...) async -> Command.Outcome {
        let command = ScenarioProgram.unshare + [executable.path] + arguments
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Command.run(command, environment: [ScenarioProgram.mark: "1"]))
            }
        }
    }

    private static let unshare = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--"]
}
