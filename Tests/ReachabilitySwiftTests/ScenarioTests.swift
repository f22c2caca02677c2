// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import ReachabilityTestSupport
import Testing

/// What needs a network that changes: see Tests/ReachabilitySwiftScenarios.
@Suite("On the kernel", .serialized, .enabled(if: ScenarioProgram.canRun, "\(ScenarioProgram.whySkipped)"))
struct ScenarioTests {
    private static let program = ScenarioProgram("reachability-swift-scenarios")

    @Test("scenario", arguments: program.scenarios)
    func scenario(name: String) async {
        let outcome = await ScenarioTests.program.run(name)
        #expect(outcome.hasSucceeded, "\(outcome.output)")
    }

    @Test("there are scenarios")
    func complete() {
        #expect(ScenarioTests.program.scenarios.count >= 10)
    }
}
