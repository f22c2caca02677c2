// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import SystemConfiguration

// Says what it hears, a line each, in the way that its argument names, and ends when a default route has come and gone.

func makeTarget() -> SCNetworkReachability {
    guard let target = SCNetworkReachabilityCreateWithName(nil, "0.0.0.0") else {
        say("error \(String(cString: SCErrorString(SCError())))")
        exit(1)
    }
    var context = SCNetworkReachabilityContext(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
    SCNetworkReachabilitySetCallback(target, callback, &context)
    return target
}

func expect(_ isTrue: Bool) {
    guard !isTrue else { return }
    say("error \(String(cString: SCErrorString(SCError())))")
    exit(1)
}

let target = makeTarget()

DispatchQueue.main.setSpecific(key: Place.key, value: ())

switch CommandLine.arguments.dropFirst().first {
case "check":
    let answers = [connectedToNetwork(), connectedToNetworkByIPv6(), Reachability.isConnectedToNetwork()]
    say("\(answers) \(modes().map { $0 as String })")
    expect(connectionFlags() != .max)
    do { say("\(try target(named: ""))") } catch { say(error.localizedDescription) }
    say("\(try target(named: "127.0.0.1"))")
case "main-queue-dispatchMain":
    expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue.main))
    say("ready")
    dispatchMain()
case "main-queue-RunLoop":
    expect(SCNetworkReachabilitySetDispatchQueue(target, .main))
    say("ready")
    RunLoop.main.run()
case "main-loop-RunLoop":
    expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.defaultMode.rawValue))
    say("ready")
    RunLoop.main.run()
case "main-loop-CFRunLoop":
    expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), CFRunLoopMode.commonModes.rawValue))
    say("ready")
    CFRunLoopRun()
case "main-loop-until":
    expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode))
    say("ready")
    while RunLoop.current.run(mode: .default, before: Date.distantFuture) {}
case "global":
    expect(SCNetworkReachabilitySetDispatchQueue(target, DispatchQueue.global(qos: .utility)))
    say("ready")
    dispatchMain()
case "watcher":
    let watcher = try Watcher()
    watcher.whenChanged = { flags in
        say("\(flags.contains(.reachable) ? "online" : "offline") \(flags)")
    }
    try watcher.start()
    say("ready")
    // The line ends when the tester closes it.
    _ = readLine()
    watcher.stop()
    say("stopped \(watcher.isRunning)")
default:
    say("error: which way?")
    exit(2)
}
