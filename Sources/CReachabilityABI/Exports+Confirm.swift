// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import ReachabilitySwift

@_cdecl("reach_confirm")
public func reachConfirm(
    _ target: OpaquePointer?, _ timeout: Int32, _ queue: OpaquePointer?, _ callback: reach_confirm_callback?,
    _ info: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
) -> UInt64 {
    let info = Info(info, release)
    do throws(Errno) {
        guard let target = Handle.object(target, as: ReachabilityTarget.self),
            let queue = Handle.object(queue, as: ReachabilityQueue.self), let callback
        else { throw .invalidArgument }
        return try target.confirm(timeout: timeout, on: queue) { target, isOnline, flags, _ in
            callback(Handle.borrow(target), isOnline, flags.rawValue, info.pointer)
        }
    } catch {
        return info.fail(error, 0)
    }
}

@_cdecl("reach_confirm_cancel")
public func reachConfirmCancel(_ id: UInt64) -> Bool {
    do throws(Errno) {
        try ReachabilityTarget.cancelConfirmation(id)
        return true
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_wait")
public func reachWait(_ target: OpaquePointer?, _ timeout: Int32, _ flags: UnsafeMutablePointer<UInt32>?) -> Bool {
    do throws(Errno) {
        guard let target = Handle.object(target, as: ReachabilityTarget.self) else { throw .invalidArgument }
        let answer = try target.wait(timeout: timeout)
        flags?.pointee = answer.flags.rawValue
        if !answer.online { throw .timedOut }
        return true
    } catch {
        return fail(error, false)
    }
}
