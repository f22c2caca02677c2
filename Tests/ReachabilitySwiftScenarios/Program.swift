// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import ReachabilityTestSupport

typealias AsyncScenario = Scenario<@Sendable () async throws -> Void>

@main
enum Program {
    static func main() async throws {
        let all = changeScenarios + confirmScenarios + monitorScenarios + queueScenarios
        try await Scenarios.chosen(from: all).body()
    }
}
