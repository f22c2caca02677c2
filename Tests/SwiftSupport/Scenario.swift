// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation

/// What a program of scenarios is made of: each is a name and what to do in a network namespace of its own.
///
/// The program is run once for each scenario, by ScenarioProgram, so that nothing that a process has only once is
/// shared by two scenarios.
public struct Scenario<Body> {
    public let name: String
    public let body: Body

    public init(_ name: String, _ body: Body) {
        self.name = name
        self.body = body
    }
}

extension Scenario: Sendable where Body: Sendable {}

public enum Scenarios {
    /// What was asked for on the command line; the names of all when nothing was.
    public static func chosen<Body>(from all: [Scenario<Body>]) -> Scenario<Body> {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for scenario in all { say(scenario.name) }
            exit(0)
        }
        guard let scenario = all.first(where: { $0.name == name }) else { fail("there is no scenario \(name)") }
        alarm(UInt32(Patience.limitSeconds))
        return scenario
    }
}

public enum Patience {
    /// Checkers make everything slower.
    public static let factor: Int = {
        let value = ProcessInfo.processInfo.environment["REACH_TEST_PATIENCE"].flatMap { Int($0) } ?? 1
        return max(1, value)
    }()

    /// After so long, whatever was waited for is not coming.
    public static let limitSeconds = 60 * factor
}

/// Ends the program as failed.
public func fail(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    say("\(file):\(line): \(message)")
    exit(1)
}

/// Ends the program as failed unless a condition holds.
public func check(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !condition { fail(message(), file: file, line: line) }
}

/// Ends the program as failed unless two values are equal.
public func check<Value: Equatable>(
    _ found: Value, equals expected: Value, _ what: @autoclosure () -> String = "it", file: StaticString = #fileID,
    line: UInt = #line
) {
    if found != expected { fail("\(what()) is \(found), not \(expected)", file: file, line: line) }
}

/// Says where the program is, for a failure to be understood.
public func step(_ text: String) {
    say("- \(text)")
}

/// Writes a line at once, so that it is there also when the process is ended.
private func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
