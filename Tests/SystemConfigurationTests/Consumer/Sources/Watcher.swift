// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

#if canImport(SystemConfiguration)

import Dispatch
import Foundation
import Glibc
import SystemConfiguration

/// A wrapper in the manner of those that there are: a weak box in the context, a queue of its own, a first notification
/// by hand.
public final class Watcher {
    public enum Failure: Error {
        case cannotBeMade(Int32)
        case cannotBeStarted(Int32)
    }

    /// The only one that the target holds on to, so that it does not keep the watcher.
    private final class Box {
        weak var watcher: Watcher?

        init(_ watcher: Watcher) { self.watcher = watcher }
    }

    public var whenChanged: ((SCNetworkReachabilityFlags) -> Void)?
    public private(set) var isRunning = false
    private let target: SCNetworkReachability
    private let queue = DispatchQueue(label: "watcher", qos: .default, target: nil)
    private var last: SCNetworkReachabilityFlags?

    public init(target: SCNetworkReachability) {
        self.target = target
    }

    public convenience init() throws {
        var zero = sockaddr()
        zero.sa_len = UInt8(MemoryLayout<sockaddr>.size)
        zero.sa_family = sa_family_t(AF_INET)
        guard let target = SCNetworkReachabilityCreateWithAddress(nil, &zero) else {
            throw Failure.cannotBeMade(SCError())
        }
        self.init(target: target)
    }

    public convenience init(host: String) throws {
        guard let target = SCNetworkReachabilityCreateWithName(nil, host) else { throw Failure.cannotBeMade(SCError()) }
        self.init(target: target)
    }

    deinit { stop() }

    public var flags: SCNetworkReachabilityFlags? {
        var flags = SCNetworkReachabilityFlags()
        return SCNetworkReachabilityGetFlags(target, &flags) ? flags : nil
    }

    private static let callback: SCNetworkReachabilityCallBack = { _, flags, info in
        guard let info = info else { return }
        Unmanaged<Box>.fromOpaque(info).takeUnretainedValue().watcher?.tell(flags)
    }

    public func start() throws {
        guard !isRunning else { return }
        let box = Box(self)
        var context = SCNetworkReachabilityContext(
            version: 0,
            info: UnsafeMutableRawPointer(Unmanaged<Box>.passUnretained(box).toOpaque()),
            retain: { (info: UnsafeRawPointer) -> UnsafeRawPointer in
                UnsafeRawPointer(Unmanaged<Box>.fromOpaque(info).retain().toOpaque())
            },
            release: { (info: UnsafeRawPointer) -> Void in
                Unmanaged<Box>.fromOpaque(info).release()
            },
            copyDescription: { (info: UnsafeRawPointer) -> Unmanaged<CFString> in
                let box = Unmanaged<Box>.fromOpaque(info).takeUnretainedValue()
                let text = box.watcher.map { String(describing: $0.target) } ?? "nobody"
                return Unmanaged.passRetained(text as CFString)
            }
        )
        if !SCNetworkReachabilitySetCallback(target, Watcher.callback, &context) {
            throw Failure.cannotBeStarted(SCError())
        }
        if !SCNetworkReachabilitySetDispatchQueue(target, queue) {
            SCNetworkReachabilitySetCallback(target, nil, nil)
            throw Failure.cannotBeStarted(SCError())
        }
        isRunning = true
        queue.sync { if let flags = flags { tell(flags) } }
    }

    public func stop() {
        SCNetworkReachabilitySetCallback(target, nil, nil)
        SCNetworkReachabilitySetDispatchQueue(target, nil)
        isRunning = false
    }

    private func tell(_ flags: SCNetworkReachabilityFlags) {
        guard flags != last else { return }
        last = flags
        whenChanged?(flags)
    }
}

extension SCNetworkReachability: @retroactive CustomStringConvertible {}

extension SCNetworkReachabilityFlags: @retroactive CustomStringConvertible {
    public var description: String {
        let letters: [(SCNetworkReachabilityFlags, String)] = [
            (.isWWAN, "W"), (.reachable, "R"), (.connectionRequired, "c"), (.transientConnection, "t"),
            (.interventionRequired, "i"), (.connectionOnTraffic, "C"), (.connectionOnDemand, "D"),
            (.isLocalAddress, "l"),
            (.isDirect, "d"), (.connectionAutomatic, "a"),
        ]
        return letters.map { contains($0.0) ? $0.1 : "-" }.joined()
    }
}

#else
#error("SystemConfiguration cannot be imported.")
#endif
