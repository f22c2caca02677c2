// swift-tools-version: 6.0
// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// A program as it comes from macOS, in both of Swift's language modes. ConsumerTests copies it beside a link to this
// repository.

import PackageDescription

let systemConfiguration: Target.Dependency = .product(
    name: "SystemConfiguration", package: "libreach", condition: .when(platforms: [.linux]))

let package = Package(
    name: "consumer",
    dependencies: [.package(path: "libreach")],
    targets: [
        .executableTarget(
            name: "consumer5", dependencies: [systemConfiguration], swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "consumer6", dependencies: [systemConfiguration], swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
