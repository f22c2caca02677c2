// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

internal import ReachabilitySwift

// The nine functions, as Swift sees them on macOS. Where they return false or nil, SCError() says why: 1002 for what
// may not be done, 1001 when a schedule could not be set up, an errno value when the kernel could not be asked.

/// A target for an address. The zero address of either family stands for the internet at large.
@discardableResult
public func SCNetworkReachabilityCreateWithAddress(
    _ allocator: CFAllocator?, _ address: UnsafePointer<sockaddr>
) -> SCNetworkReachability? {
    make { () throws(Errno) in Destination(address: try IPAddress(socketAddress: SocketAddress.bytes(address))) }
}

/// A target for the way from a local address to a remote one, either of which may be left out.
@discardableResult
public func SCNetworkReachabilityCreateWithAddressPair(
    _ allocator: CFAllocator?, _ localAddress: UnsafePointer<sockaddr>?, _ remoteAddress: UnsafePointer<sockaddr>?
) -> SCNetworkReachability? {
    make { () throws(Errno) in
        var addresses: [IPAddress?] = []
        for address in [localAddress, remoteAddress] {
            guard let address else {
                addresses.append(nil)
                continue
            }
            addresses.append(try IPAddress(socketAddress: SocketAddress.bytes(address)))
        }
        return try Destination(local: addresses[0], remote: addresses[1])
    }
}

/// A target for a host, or for the address that the text is.
@discardableResult
public func SCNetworkReachabilityCreateWithName(
    _ allocator: CFAllocator?, _ nodename: UnsafePointer<CChar>
) -> SCNetworkReachability? {
    make { () throws(Errno) in
        try Destination(name: [UInt8](UnsafeRawBufferPointer(start: nodename, count: strlen(nodename))))
    }
}

private func make(_ destination: () throws(Errno) -> Destination) -> SCNetworkReachability? {
    do throws(Errno) {
        return TargetObject(ReachabilityTarget(try destination())).reference
    } catch {
        return fail(kSCStatusInvalidArgument, nil)
    }
}

public func SCNetworkReachabilityGetTypeID() -> CFTypeID {
    // CoreFoundation counts the classes that are registered with it from 1, and never comes so far.
    0x5343_4e52
}

/// The answer now. Never waits for the network, and never looks a name up.
@discardableResult
public func SCNetworkReachabilityGetFlags(
    _ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>
) -> Bool {
    do throws(Errno) {
        flags.pointee = SCNetworkReachabilityFlags(rawValue: try target.object.target.flags().rawValue)
        return true
    } catch {
        return fail(Int(error.rawValue), false)
    }
}

/// Sets what is called on a change, or removes it. Takes effect with the next delivery, and causes none.
@discardableResult
public func SCNetworkReachabilitySetCallback(
    _ target: SCNetworkReachability, _ callout: SCNetworkReachabilityCallBack?,
    _ context: UnsafeMutablePointer<SCNetworkReachabilityContext>?
) -> Bool {
    target.object.setCallback(callout, context?.pointee)
    return true
}

/// Has changes delivered on a run loop, while that runs in the mode. Counted: twice on the same one is taken back
/// twice.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
    let mode = CFRunLoopMode(runLoopMode)
    return change(target) { (schedule) throws(Refusal) in
        switch schedule {
        case nil:
            return try Refusal.unlessStarted { () throws(Errno) in
                try RunLoopSchedule(target.object, on: runLoop, mode)
            }
        case let schedule as RunLoopSchedule:
            schedule.add(runLoop, mode)
            return schedule
        default: throw .notAllowed
        }
    }
}

/// Takes back one time that the target was scheduled. It is enough that it is on some run loop, as on macOS.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
    change(target) { (schedule) throws(Refusal) in
        guard let schedule = schedule as? RunLoopSchedule else { throw .notAllowed }
        if schedule.remove(runLoop, CFRunLoopMode(runLoopMode)) { return schedule }
        schedule.end()
        return nil
    }
}

/// Has changes delivered on a dispatch queue of any kind, or takes the target off its queue, and off its run loops too.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
    change(target) { (schedule) throws(Refusal) in
        guard let queue else {
            guard let schedule else { throw .notAllowed }
            schedule.end()
            return nil
        }
        if schedule != nil { throw .notAllowed }
        return try Refusal.unlessStarted { () throws(Errno) in try DispatchSchedule(target.object, on: queue) }
    }
}

/// Why a schedule was not changed.
private enum Refusal: Error {
    case notAllowed, notStarted

    static func unlessStarted<Started: Schedule>(_ start: () throws(Errno) -> Started) throws(Refusal) -> Started {
        do throws(Errno) { return try start() } catch { throw .notStarted }
    }
}

private func change(
    _ target: SCNetworkReachability, _ update: (Schedule?) throws(Refusal) -> Schedule?
) -> Bool {
    do throws(Refusal) {
        try target.object.updateSchedule(update)
        return true
    } catch {
        return fail(error == .notAllowed ? kSCStatusInvalidArgument : kSCStatusFailed, false)
    }
}
