// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import ReachabilitySwift
import Synchronization

/// A monitor ends with the last reference that a caller holds, though the object may live on during a callout. So
/// callers' references are counted apart; each is also one retain of the object.
private enum Monitor {
    static func object(_ handle: OpaquePointer?) -> MonitorCore? {
        Handle.object(handle, as: MonitorCore.self)
    }

    /// The shared one for NULL.
    static func objectOrShared(_ handle: OpaquePointer?) throws(Errno) -> MonitorCore {
        if let monitor = object(handle) { return monitor }
        return try MonitorCore.shared()
    }
}

@_cdecl("reach_monitor_shared")
public func reachMonitorShared() -> OpaquePointer? {
    do throws(Errno) {
        return Handle.borrow(try MonitorCore.shared())
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_monitor_create")
public func reachMonitorCreate(_ host: UnsafePointer<CChar>?) -> OpaquePointer? {
    do throws(Errno) {
        guard let host else { throw .invalidArgument }
        return Handle.give(try MonitorCore.start(host: CText.bytes(host)))
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_monitor_retain")
public func reachMonitorRetain(_ monitor: OpaquePointer?) -> OpaquePointer? {
    guard let core = Monitor.object(monitor) else { return fail(.invalidArgument, nil) }
    if core.isShared { return monitor }
    core.references.wrappingAdd(1, ordering: .relaxed)
    return Handle.retain(monitor, as: MonitorCore.self)
}

@_cdecl("reach_monitor_release")
public func reachMonitorRelease(_ monitor: OpaquePointer?) {
    guard let core = Monitor.object(monitor), !core.isShared else { return }
    if core.references.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { core.end() }
    Handle.release(monitor, as: MonitorCore.self)
}

@_cdecl("reach_monitor_get_status")
public func reachMonitorGetStatus(_ monitor: OpaquePointer?) -> Int32 {
    do throws(Errno) {
        return try Monitor.objectOrShared(monitor).status.rawValue
    } catch {
        return fail(error, ReachabilityStatus.unknown.rawValue)
    }
}

@_cdecl("reach_monitor_is_reachable")
public func reachMonitorIsReachable(_ monitor: OpaquePointer?) -> Bool {
    reachMonitorGetStatus(monitor) != ReachabilityStatus.notReachable.rawValue
}

@_cdecl("reach_monitor_set_host")
public func reachMonitorSetHost(_ monitor: OpaquePointer?, _ host: UnsafePointer<CChar>?) -> Bool {
    do throws(Errno) {
        guard let host else { throw .invalidArgument }
        let bytes = CText.bytes(host)
        if let core = Monitor.object(monitor) { try core.setHost(bytes) } else { try MonitorCore.setSharedHost(bytes) }
        return true
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_monitor_get_host")
public func reachMonitorGetHost(
    _ monitor: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    do throws(Errno) {
        return CText.copy(try Monitor.objectOrShared(monitor).host, to: buffer, size: size)
    } catch {
        return fail(error, 0)
    }
}

@_cdecl("reach_monitor_add_observer")
public func reachMonitorAddObserver(
    _ monitor: OpaquePointer?, _ queue: OpaquePointer?, _ callback: reach_monitor_callback?,
    _ info: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> UInt64 {
    let info = Info(info, release)
    do throws(Errno) {
        guard let queue = Handle.object(queue, as: ReachabilityQueue.self), let callback else {
            throw .invalidArgument
        }
        return try MonitorCore.addObserver(to: Monitor.object(monitor), on: queue) { core, status, previous, host in
            var text = host
            text.append(0)
            text.withUnsafeBytes { bytes in
                callback(
                    Handle.borrow(core), status.rawValue, previous.rawValue,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self), info.pointer)
            }
        }
    } catch {
        return info.fail(error, 0)
    }
}

@_cdecl("reach_monitor_remove_observer")
public func reachMonitorRemoveObserver(_ id: UInt64) -> Bool {
    do throws(Errno) {
        try MonitorCore.removeObserver(id)
        return true
    } catch {
        return fail(error, false)
    }
}
