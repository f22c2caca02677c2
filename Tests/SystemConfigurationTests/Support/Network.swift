// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

/// The network namespace that Tests/SystemConfigurationTests/in-namespace starts the tests in: nobody's but theirs.
enum Network {
    static let isOwn = ProcessInfo.processInfo.environment["REACH_TEST_NETWORK"] == "own"

    /// A link wan0 with a working cable and 10.1.0.2/24, and no default route.
    static func begin() throws {
        try? ip("link del wan0")
        try ip("link set lo up")
        try ip("link add wan0 type veth peer name isp0")
        try ip("addr add 10.1.0.2/24 dev wan0")
        try ip("link set isp0 up")
        try ip("link set wan0 up")
    }

    static func addRoute() throws { try ip("route add default via 10.1.0.1 dev wan0") }

    static func deleteRoute() throws { try ip("route del default via 10.1.0.1 dev wan0") }

    static func ip(_ command: String) throws {
        try Program.run(["ip"] + command.split(separator: " ").map(String.init))
    }
}

/// How long a test waits for what must come before it gives up.
let patience: TimeInterval =
    15 * (ProcessInfo.processInfo.environment["REACH_TEST_PATIENCE"].flatMap(TimeInterval.init) ?? 1)

/// The tests that change the network, one at a time.
@Suite(
    .serialized,
    .enabled(
        if: Network.isOwn, "They need a network of their own: run them with `make test-swift-systemconfiguration`.")
)
enum NetworkTests {}
