// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import CReach
import ReachabilitySwift

@_cdecl("reach_create_with_address")
public func reachCreateWithAddress(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> OpaquePointer? {
    do throws(Errno) {
        guard let address = try parse(address, length) else { throw .invalidArgument }
        return Handle.give(ReachabilityTarget(Destination(address: address)))
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_create_with_address_pair")
public func reachCreateWithAddressPair(
    _ local: UnsafePointer<sockaddr>?, _ localLength: socklen_t, _ remote: UnsafePointer<sockaddr>?,
    _ remoteLength: socklen_t
) -> OpaquePointer? {
    do throws(Errno) {
        let local = try parse(local, localLength)
        let remote = try parse(remote, remoteLength)
        return Handle.give(ReachabilityTarget(try Destination(local: local, remote: remote)))
    } catch {
        return fail(error, nil)
    }
}

@_cdecl("reach_create_with_name")
public func reachCreateWithName(_ name: UnsafePointer<CChar>?) -> OpaquePointer? {
    do throws(Errno) {
        guard let name else { throw .invalidArgument }
        return Handle.give(ReachabilityTarget(try Destination(name: CText.bytes(name))))
    } catch {
        return fail(error, nil)
    }
}

/// Nil for no address at all, which only a pair allows.
private func parse(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) throws(Errno) -> IPAddress? {
    guard let address else {
        if length != 0 { throw .invalidArgument }
        return nil
    }
    return try IPAddress(socketAddress: UnsafeRawBufferPointer(start: address, count: Int(length)))
}

@_cdecl("reach_retain")
public func reachRetain(_ target: OpaquePointer?) -> OpaquePointer? {
    Handle.retain(target, as: ReachabilityTarget.self)
}

@_cdecl("reach_release")
public func reachRelease(_ target: OpaquePointer?) {
    Handle.release(target, as: ReachabilityTarget.self)
}

@_cdecl("reach_get_flags")
public func reachGetFlags(_ target: OpaquePointer?, _ flags: UnsafeMutablePointer<UInt32>?) -> Bool {
    guard let target = Handle.object(target, as: ReachabilityTarget.self), let flags else {
        return fail(.invalidArgument, false)
    }
    do throws(Errno) {
        flags.pointee = try target.flags().rawValue
        return true
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_is_online")
public func reachIsOnline() -> Bool {
    do throws(Errno) {
        return try Asker.current.internetTarget.flags().isOnline ? true : fail(Errno(rawValue: 0), false)
    } catch {
        return fail(error, false)
    }
}

@_cdecl("reach_name_is_valid")
public func reachNameIsValid(_ name: UnsafePointer<CChar>?) -> Bool {
    guard let name else { return fail(.invalidArgument, false) }
    return HostName.isValid(CText.bytes(name)) ? true : fail(Errno(rawValue: 0), false)
}
