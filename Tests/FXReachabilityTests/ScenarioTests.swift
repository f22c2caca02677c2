// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import FXReachability
import Foundation
import ReachabilityTestSupport
import Testing

/// What needs a main thread and a network that changes: see Tests/FXReachabilityScenarios.
@Suite("FXReachability", .serialized, .enabled(if: ScenarioProgram.canRun, "\(ScenarioProgram.whySkipped)"))
struct ScenarioTests {
    private static let program = ScenarioProgram("fxreachability-scenarios")

    @Test("scenario", arguments: program.scenarios)
    func scenario(name: String) async {
        let outcome = await ScenarioTests.program.run(name)
        #expect(outcome.hasSucceeded, "\(outcome.output)")
    }

    @Test("there are scenarios")
    func complete() {
        #expect(ScenarioTests.program.scenarios.count >= 8)
    }
}

@Suite("FXReachability's names and numbers")
struct NameTests {
    @Test("are the original's")
    func names() {
        #expect(NSNotification.Name.FXReachabilityStatusDidChange == FXReachabilityStatusDidChangeNotification)
        #expect(FXReachabilityStatusDidChangeNotification.rawValue == "FXReachabilityStatusDidChangeNotification")
        #expect(FXReachabilityNotificationStatusKey == "status")
        #expect(FXReachabilityNotificationPreviousStatusKey == "previousStatus")
        #expect(FXReachabilityNotificationHostKey == "host")
        let statuses: [FXReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
        #expect(statuses.map(\.rawValue) == [-1, 0, 1, 2])
    }

    @Test("a number of a userInfo is a status, if it is one", arguments: [-2, -1, 0, 1, 2, 3])
    func bridging(number: Int) {
        let value: Any = NSNumber(value: number)
        #expect(value as? FXReachabilityStatus == FXReachabilityStatus(rawValue: number))
        #expect(value as? Int == number)
    }
}
