// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

/// A package that depends on this one, built as anybody would, and its programs at work.
enum Consumer {
    static let modes = ["consumer5", "consumer6"]

    /// The folder of the programs. Built once.
    static let built = Result { try build() }

    private static func build() throws -> URL {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let repository = tests.deletingLastPathComponent().deletingLastPathComponent()
        let package = FileManager.default.temporaryDirectory.appendingPathComponent("consumer-\(getpid())")
        let files = FileManager.default
        try files.createDirectory(at: package.appendingPathComponent("Sources"), withIntermediateDirectories: true)
        try files.copyItem(
            at: tests.appendingPathComponent("Consumer/Package.swift"),
            to: package.appendingPathComponent("Package.swift"))
        for mode in modes {
            try files.copyItem(
                at: tests.appendingPathComponent("Consumer/Sources"),
                to: package.appendingPathComponent("Sources/\(mode)"))
        }
        try files.createSymbolicLink(at: package.appendingPathComponent("libreach"), withDestinationURL: repository)
        removeAtExit(package.path)
        try Program.run(["swift", "build", "--package-path", package.path])
        return package.appendingPathComponent(".build/debug")
    }

    nonisolated(unsafe) private static var folder: UnsafeMutablePointer<CChar>?

    private static func removeAtExit(_ path: String) {
        folder = strdup(path)
        atexit {
            if let folder = Consumer.folder { try? FileManager.default.removeItem(atPath: String(cString: folder)) }
        }
    }

    static func start(_ program: String, _ way: String) throws -> Program {
        try Program([try built.get().appendingPathComponent(program).path, way])
    }
}

@Suite struct ConsumerTests {
    @Test func aPackageThatDependsOnThisOneBuilds() throws {
        let programs = try Consumer.built.get()
        for mode in Consumer.modes {
            #expect(FileManager.default.isExecutableFile(atPath: programs.appendingPathComponent(mode).path))
        }
    }

    @Test(arguments: Consumer.modes) func theChecksAnswerAlike(mode: String) throws {
        let run = try Consumer.start(mode, "check")
        let modes = [
            "kCFRunLoopDefaultMode", "kCFRunLoopCommonModes", "kCFRunLoopDefaultMode", "kCFRunLoopCommonModes",
            "another", "a mode",
        ].description
        let line = run.line()
        #expect(["[true, true, true] \(modes)", "[false, false, false] \(modes)"].contains(line), "\(line)")
        #expect(run.line() == "Invalid argument")
        #expect(run.line().hasSuffix("{address = 127.0.0.1}"), "A target that is printed is described.")
        #expect(run.end() == 0)
    }
}

extension NetworkTests {
    /// The programs of the package, on a network that changes.
    @Suite struct ConsumerPrograms {
        init() throws { try Network.begin() }

        @Test(arguments: Consumer.modes) func theChecksFollowTheNetwork(mode: String) throws {
            #expect(try Consumer.start(mode, "check").line().hasPrefix("[false, false, false] "))
            try Network.addRoute()
            #expect(try Consumer.start(mode, "check").line().hasPrefix("[true, true, true] "))
        }

        @Test(
            arguments: Consumer.modes,
            [
                "main-queue-dispatchMain", "main-queue-RunLoop", "main-loop-RunLoop", "main-loop-CFRunLoop",
                "main-loop-until",
            ])
        func theMainThreadIsCalled(mode: String, way: String) throws {
            let run = try Consumer.start(mode, way)
            #expect(run.line() == "ready")
            try Network.addRoute()
            #expect(run.line() == "online main")
            try Network.deleteRoute()
            #expect(run.line() == "offline main")
            #expect(run.end() == 0)
        }

        @Test(arguments: Consumer.modes) func aGlobalQueueIsCalledWhileTheMainThreadIsLent(mode: String) throws {
            let run = try Consumer.start(mode, "global")
            #expect(run.line() == "ready")
            try Network.addRoute()
            #expect(run.line() == "online elsewhere")
            try Network.deleteRoute()
            #expect(run.line() == "offline elsewhere")
            #expect(run.end() == 0)
        }

        @Test(arguments: Consumer.modes) func aWrapperWatches(mode: String) throws {
            let run = try Consumer.start(mode, "watcher")
            #expect(run.line() == "offline ----------", "The first notification, by hand.")
            #expect(run.line() == "ready")
            try Network.addRoute()
            #expect(run.line() == "online -R--------")
            try Network.deleteRoute()
            #expect(run.line() == "offline ----------")
            run.closeInput()
            #expect(run.line() == "stopped false")
            #expect(run.end() == 0)
        }
    }
}
