// swift-tools-version: 6.0
// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "libreach",
    products: [
        .library(name: "ReachabilitySwift", targets: ["ReachabilitySwift"]),
        .library(name: "FXReachability", targets: ["FXReachability"]),
        .library(name: "SystemConfiguration", targets: ["SystemConfiguration"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
        .systemLibrary(name: "CReach", path: "include"),
        .target(name: "ReachabilitySwift", dependencies: ["CLinux"]),
        .target(
            name: "CReachabilityABI", dependencies: ["CLinux", "CReach", "ReachabilitySwift"],
            exclude: ["libreach.map", "symbols.txt"]),
        .target(name: "FXReachability", dependencies: ["ReachabilitySwift"]),
        .systemLibrary(name: "CSystemConfiguration", path: "Sources/CSystemConfiguration"),
        .target(name: "SystemConfiguration", dependencies: ["CSystemConfiguration", "ReachabilitySwift"]),
        .testTarget(name: "CReachabilityABITests", dependencies: ["CReach", "CReachabilityABI", "ReachabilitySwift"]),
        .testTarget(
            name: "ReachabilitySwiftTests",
            dependencies: [
                "CLinux", "ReachabilitySwift", "ReachabilityTestSupport",
                "reachability-swift-scenarios",
            ]),
        .target(name: "ReachabilityTestSupport", path: "Tests/SwiftSupport"),
        .executableTarget(
            name: "reachability-swift-scenarios",
            dependencies: ["ReachabilitySwift", "ReachabilityTestSupport"],
            path: "Tests/ReachabilitySwiftScenarios"),
        .testTarget(
            name: "FXReachabilityTests",
            dependencies: ["FXReachability", "ReachabilityTestSupport", "fxreachability-scenarios"]),
        .executableTarget(
            name: "fxreachability-scenarios",
            dependencies: ["FXReachability", "ReachabilitySwift", "ReachabilityTestSupport"],
            path: "Tests/FXReachabilityScenarios"),
        .testTarget(
            name: "SystemConfigurationTests", dependencies: ["SystemConfiguration"],
            exclude: ["Consumer", "in-namespace"]),
    ],
    swiftLanguageModes: [.v6]
)
