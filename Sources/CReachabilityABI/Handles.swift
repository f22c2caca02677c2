// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import CReach
import ReachabilitySwift

/// How Swift objects and C pointers become each other, and how errors leave.
///
/// A handle is the object's own address. Each reference that C holds is one retain of the object.
enum Handle {
    /// A pointer with one reference for the caller.
    static func give<Object: AnyObject>(_ object: Object) -> OpaquePointer {
        OpaquePointer(Unmanaged.passRetained(object).toOpaque())
    }

    /// The pointer of an object that somebody else keeps alive.
    static func borrow<Object: AnyObject>(_ object: Object) -> OpaquePointer {
        OpaquePointer(Unmanaged.passUnretained(object).toOpaque())
    }

    static func object<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) -> Object? {
        guard let handle else { return nil }
        return Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
    }

    static func retain<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) -> OpaquePointer? {
        guard let handle else { return fail(.invalidArgument, nil) }
        _ = Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).retain()
        return handle
    }

    static func release<Object: AnyObject>(_ handle: OpaquePointer?, as type: Object.Type) {
        guard let handle else { return }
        Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).release()
    }
}

/// Sets errno and returns what says "failed".
func fail<Result>(_ error: Errno, _ result: Result) -> Result {
    clinux_set_errno(error.rawValue)
    return result
}

/// A caller's info and its release function, which runs when the last use is gone.
final class Info {
    let pointer: UnsafeMutableRawPointer?
    private var release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    init(_ pointer: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release?(pointer)
    }

    /// For a registration that failed, when nobody else has it: runs the release function before errno is set, which
    /// that function may change.
    func fail<Result>(_ error: Errno, _ result: Result) -> Result {
        let release = self.release
        self.release = nil
        release?(pointer)
        return CReachabilityABI.fail(error, result)
    }
}

enum CText {
    /// The bytes of a C string, without its NUL.
    static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        let count = strlen(text)
        return [UInt8](UnsafeRawBufferPointer(start: text, count: count))
    }

    /// Copies as snprintf does. Returns the whole length, or nothing with EINVAL.
    static func copy(_ text: [UInt8], to buffer: UnsafeMutablePointer<CChar>?, size: Int) -> Int {
        guard size > 0 else { return text.count }
        guard let buffer else { return fail(.invalidArgument, 0) }
        let count = min(text.count, size - 1)
        for index in 0..<count { buffer[index] = CChar(bitPattern: text[index]) }
        buffer[count] = 0
        return text.count
    }

    /// A constant's own bytes: the compiler ends them with NUL.
    static func constant(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
