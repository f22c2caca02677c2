// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

internal import ReachabilitySwift

extension SCNetworkReachability {
    /// What is behind the reference.
    var object: TargetObject { unsafeBitCast(self, to: TargetObject.self) }
}

/// Equal only to itself, as on macOS.
extension SCNetworkReachability: @retroactive Hashable {
    public static func == (left: SCNetworkReachability, right: SCNetworkReachability) -> Bool {
        left === right
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// What is printed of a target is the object's description. CustomStringConvertible is left to clients, for whom a
/// second conformance would not compile.
extension SCNetworkReachability {
    public var description: String { object.description }
}

/// Safe to use from any thread.
extension SCNetworkReachability: @unchecked @retroactive Sendable {}

/// What an SCNetworkReachability is: something that can be asked about, with its callback and its schedule. While it is
/// scheduled it keeps itself alive.
///
/// To clients it is a class of C's, which CoreFoundation's objects are on macOS. Swift counts references to those as it
/// does those to its own where there is no Objective-C.
///
/// The client's functions, those of the context included, are never called with a lock held, so that they may call
/// anything here; Apple's context functions may not. The price is that a change may come up while
/// SCNetworkReachabilitySetCallback stands between the old context and the new one: it is then delivered when that is
/// done.
final class TargetObject: CustomStringConvertible, @unchecked Sendable {
    let target: ReachabilityTarget

    /// Guards what follows, and what the schedule has. The core's locks are taken under it; nothing of the client's is
    /// called under it.
    let lock = Lock()
    private var client: Client?
    /// Calls of setCallback that are between the old client and the new one.
    private var replacing = 0
    /// There was a change meanwhile.
    private(set) var isOwed = false
    private var schedule: Schedule?

    init(_ target: ReachabilityTarget) {
        self.target = target
    }

    deinit {
        client?.drop()
    }

    var reference: SCNetworkReachability { unsafeBitCast(self, to: SCNetworkReachability.self) }

    var description: String {
        let address = UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        return "<SCNetworkReachability 0x\(String(address, radix: 16)) [0x0]> {\(target.destination.text)}"
    }

    // MARK: The callback

    /// Lets the old client go before the new one is retained.
    func setCallback(_ callout: SCNetworkReachabilityCallBack?, _ context: SCNetworkReachabilityContext?) {
        let old = lock.withLock {
            let old = client
            client = nil
            replacing += 1
            return old
        }
        old?.drop()
        let new = callout == nil && context == nil ? nil : Client(callout, context)
        let (other, owing) = lock.withLock { () -> (Client?, Schedule?) in
            // Set on another thread meanwhile, or from inside release or retain.
            let other = client
            client = new
            replacing -= 1
            guard isOwed, replacing == 0 else { return (other, nil) }
            isOwed = false
            return (other, schedule)
        }
        other?.drop()
        owing?.deliverLater()
    }

    /// Calls the client, unless the target is not on this schedule any more.
    func deliver(_ flags: SCNetworkReachabilityFlags, for schedule: Schedule) {
        let client = lock.withLock { () -> Client? in
            guard self.schedule === schedule else { return nil }
            if replacing > 0 {
                isOwed = true
                return nil
            }
            self.client?.keep()
            return self.client
        }
        client?.call(reference, flags)
    }

    /// The flags as they are now; those that are given when the kernel cannot be asked.
    func flags(or known: SCNetworkReachabilityFlags) -> SCNetworkReachabilityFlags {
        do throws(Errno) {
            return SCNetworkReachabilityFlags(rawValue: try target.flags().rawValue)
        } catch {
            return known
        }
    }

    // MARK: The schedule

    /// Changes the schedule: the closure gets the one that is and returns the one that is to be.
    func updateSchedule<Failure>(_ body: (Schedule?) throws(Failure) -> Schedule?) throws(Failure) {
        let previous = try lock.withLock { () throws(Failure) -> Schedule? in
            let previous = schedule
            schedule = try body(previous)
            if schedule == nil { isOwed = false }
            return previous
        }
        // What has ended is let go after the lock.
        if let previous, lock.withLock({ schedule !== previous }) { previous.settle() }
    }

    /// Has the core tell about changes. The target is kept alive by that. With the lock.
    func begin(on queue: ReachabilityQueue, _ changed: @escaping (SCNetworkReachabilityFlags) -> Void) throws(Errno) {
        target.replaceCallback { _, flags in changed(SCNetworkReachabilityFlags(rawValue: flags.rawValue)) }
        do throws(Errno) {
            try target.setQueue(queue)
        } catch {
            target.replaceCallback(nil)
            throw error
        }
    }

    /// With the lock.
    func end() {
        try? target.setQueue(nil)
        target.replaceCallback(nil)
    }
}

extension Destination {
    /// What is asked about, in the words of Apple's descriptions.
    fileprivate var text: String {
        switch self {
        case .internet: return "default path"
        case .address(let address): return "address = \(address.shown)"
        case .localhost(let name), .name(let name): return "name = \(String(decoding: name, as: UTF8.self))"
        case .pair(let local, let remote):
            let texts = [local.map { "local address = \($0.shown)" }, remote.map { "remote address = \($0.shown)" }]
            return texts.compactMap { $0 }.joined(separator: ", ")
        }
    }
}

extension IPAddress {
    fileprivate var shown: String {
        String(decoding: text, as: UTF8.self) + (link == 0 ? "" : "%\(linkName ?? "\(link)")")
    }

    /// Nil when there is no such link.
    private var linkName: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(link, buffer.baseAddress).map { String(cString: $0) }
        }
    }
}
