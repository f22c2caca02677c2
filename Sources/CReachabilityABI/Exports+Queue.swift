// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import CReach
import ReachabilitySwift

@_cdecl("reach_set_callback")
public func reachSetCallback(
    _ target: OpaquePointer?, _ callback: reach_callback?, _ info: UnsafeMutableRawPointer?,
    _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> Bool {
    let info = Info(info, release)
    guard let target = Handle.object(target, as: ReachabilityTarget.self) else {
        return info.fail(.invalidArgument, false)
    }
    guard let callback else {
        target.replaceCallback(nil)
        return true
    }
    target.replaceCallback { target, flags in callback(Handle.borrow(target), flags.rawValue, info.pointer) }
    return true
}

@_cdecl("reach_set_queue")
public func reachSetQueue(_ target: OpaquePointer?, _ queue: OpaquePointer?) -> Bool {
    guard let target = Handle.object(target, as: ReachabilityTarget.self) else {
        return fail(.invalidArgument, false)
    }
    do throws(Errno) {
        try target.setQueue(Handle.object(queue, as: ReachabilityQueue.self))
        return true
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_queue_create")
public func reachQueueCreate(_ label: UnsafePointer<CChar>?) -> OpaquePointer? {
    do throws(Errno) {
        let label = label.map { CText.bytes($0) } ?? [UInt8]("reach")
        return Handle.give(try ReachabilityQueue.threaded(label: label))
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_queue_create_manual")
public func reachQueueCreateManual() -> OpaquePointer? {
    do throws(Errno) {
        return Handle.give(try ReachabilityQueue.manual())
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_queue_fd")
public func reachQueueFD(_ queue: OpaquePointer?) -> Int32 {
    do throws(Errno) {
        guard let queue = Handle.object(queue, as: ReachabilityQueue.self) else { throw .invalidArgument }
        return try queue.fileDescriptor()
    } catch {
        return fail(error, -1)
    }
}

@_cdecl("reach_queue_dispatch")
public func reachQueueDispatch(_ queue: OpaquePointer?, _ timeout: Int32) -> Int32 {
    do throws(Errno) {
        guard let queue = Handle.object(queue, as: ReachabilityQueue.self) else { throw .invalidArgument }
        return Int32(clamping: try queue.dispatch(timeout: timeout))
    } catch {
        return fail(error, -1)
    }
}

@_cdecl("reach_queue_next")
public func reachQueueNext(
    _ queue: OpaquePointer?, _ timeout: Int32, _ target: UnsafeMutablePointer<OpaquePointer?>?,
    _ flags: UnsafeMutablePointer<UInt32>?
) -> Int32 {
    do throws(Errno) {
        guard let queue = Handle.object(queue, as: ReachabilityQueue.self), let target, let flags else {
            throw .invalidArgument
        }
        guard let change = try queue.nextChange(timeout: timeout) else { return 0 }
        target.pointee = Handle.borrow(change.target)
        flags.pointee = change.flags.rawValue
        return 1
    } catch {
        return fail(error, -1)
    }
}

@_cdecl("reach_queue_flush")
public func reachQueueFlush(_ queue: OpaquePointer?) -> Bool {
    do throws(Errno) {
        guard let queue = Handle.object(queue, as: ReachabilityQueue.self) else { throw .invalidArgument }
        try queue.flush()
        return true
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_queue_retain")
public func reachQueueRetain(_ queue: OpaquePointer?) -> OpaquePointer? {
    Handle.retain(queue, as: ReachabilityQueue.self)
}

@_cdecl("reach_queue_release")
public func reachQueueRelease(_ queue: OpaquePointer?) {
    Handle.release(queue, as: ReachabilityQueue.self)
}
