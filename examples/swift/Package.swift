// swift-tools-version: 6.0
// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import PackageDescription

// A program of your own names the repository's address in place of the path.
let package = Package(
    name: "reach-examples",
    dependencies: [
        .package(name: "libreach", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "watch", dependencies: [.product(name: "ReachabilitySwift", package: "libreach")]),
        .executableTarget(
            name: "confirm", dependencies: [.product(name: "ReachabilitySwift", package: "libreach")]),
        .executableTarget(
            name: "monitor", dependencies: [.product(name: "FXReachability", package: "libreach")]),
    ],
    swiftLanguageModes: [.v6]
)
