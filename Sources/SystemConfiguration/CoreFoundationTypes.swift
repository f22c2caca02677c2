// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// The toolchain has a real CoreFoundation, whose run loops Foundation's RunLoop and the main dispatch queue are at home
// in. It is used as it is, but for what Swift's importer makes of it on macOS and does not on Linux: texts and errors
// that are bridged, run loop modes that are a type of their own, and functions that take those.

public import Foundation

/// Text that a Swift string turns into with "as", and back. Only Foundation's class does so on Linux; CoreFoundation
/// itself takes it for its own.
public typealias CFString = NSString

/// An error that is one of Swift's too, as on macOS.
public typealias CFError = NSError

/// A mode of a run loop.
public struct CFRunLoopMode: RawRepresentable, Hashable, @unchecked Sendable {
    public var rawValue: CFString

    public init(_ rawValue: CFString) {
        self.rawValue = rawValue
    }

    public init(rawValue: CFString) {
        self.rawValue = rawValue
    }

    public static var defaultMode: CFRunLoopMode! { CFRunLoopMode("kCFRunLoopDefaultMode" as NSString) }
    public static var commonModes: CFRunLoopMode! { CFRunLoopMode("kCFRunLoopCommonModes" as NSString) }

    /// The mode as CoreFoundation knows it, which tells the common modes by the pointer.
    var real: CoreFoundation.CFRunLoopMode {
        let common: CoreFoundation.CFRunLoopMode = CoreFoundation.kCFRunLoopCommonModes
        return self == .commonModes ? common : unsafeBitCast(rawValue, to: CoreFoundation.CFRunLoopMode.self)
    }
}

public var kCFRunLoopDefaultMode: CFString! { CFRunLoopMode.defaultMode.rawValue }
public var kCFRunLoopCommonModes: CFString! { CFRunLoopMode.commonModes.rawValue }

// MARK: Functions that take a mode

public func CFRunLoopCopyCurrentMode(_ loop: CFRunLoop!) -> CFRunLoopMode! {
    guard let mode = CoreFoundation.CFRunLoopCopyCurrentMode(loop) else { return nil }
    return CFRunLoopMode(unsafeBitCast(mode, to: NSString.self))
}

public func CFRunLoopAddCommonMode(_ loop: CFRunLoop!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopAddCommonMode(loop, mode.real)
}

public func CFRunLoopGetNextTimerFireDate(_ loop: CFRunLoop!, _ mode: CFRunLoopMode!) -> CFAbsoluteTime {
    CoreFoundation.CFRunLoopGetNextTimerFireDate(loop, mode.real)
}

@discardableResult
public func CFRunLoopRunInMode(
    _ mode: CFRunLoopMode!, _ seconds: CFTimeInterval, _ returnAfterSourceHandled: Bool
) -> CFRunLoopRunResult {
    CoreFoundation.CFRunLoopRunInMode(mode.real, seconds, returnAfterSourceHandled)
}

public func CFRunLoopPerformBlock(_ loop: CFRunLoop!, _ mode: CFRunLoopMode!, _ block: @escaping () -> Void) {
    CoreFoundation.CFRunLoopPerformBlock(loop, mode.real, block)
}

public func CFRunLoopPerformBlock(_ loop: CFRunLoop!, _ mode: CFString!, _ block: @escaping () -> Void) {
    CoreFoundation.CFRunLoopPerformBlock(loop, CFRunLoopMode(mode).real, block)
}

public func CFRunLoopContainsSource(_ loop: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) -> Bool {
    CoreFoundation.CFRunLoopContainsSource(loop, source, mode.real)
}

public func CFRunLoopAddSource(_ loop: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopAddSource(loop, source, mode.real)
}

public func CFRunLoopRemoveSource(_ loop: CFRunLoop!, _ source: CFRunLoopSource!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopRemoveSource(loop, source, mode.real)
}

public func CFRunLoopContainsObserver(_ loop: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!)
    -> Bool
{
    CoreFoundation.CFRunLoopContainsObserver(loop, observer, mode.real)
}

public func CFRunLoopAddObserver(_ loop: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopAddObserver(loop, observer, mode.real)
}

public func CFRunLoopRemoveObserver(_ loop: CFRunLoop!, _ observer: CFRunLoopObserver!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopRemoveObserver(loop, observer, mode.real)
}

public func CFRunLoopContainsTimer(_ loop: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) -> Bool {
    CoreFoundation.CFRunLoopContainsTimer(loop, timer, mode.real)
}

public func CFRunLoopAddTimer(_ loop: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopAddTimer(loop, timer, mode.real)
}

public func CFRunLoopRemoveTimer(_ loop: CFRunLoop!, _ timer: CFRunLoopTimer!, _ mode: CFRunLoopMode!) {
    CoreFoundation.CFRunLoopRemoveTimer(loop, timer, mode.real)
}

// MARK: Functions that take what is bridged

public func CFErrorGetCode(_ error: CFError!) -> CFIndex {
    error.code
}

public func CFErrorGetDomain(_ error: CFError!) -> CFString! {
    error.domain as NSString
}

public func CFErrorCopyDescription(_ error: CFError!) -> CFString! {
    error.localizedDescription as NSString
}

// MARK: Functions that take any object, for targets

public func CFGetTypeID(_ target: SCNetworkReachability!) -> CFTypeID {
    SCNetworkReachabilityGetTypeID()
}

public func CFEqual(_ target: SCNetworkReachability!, _ other: SCNetworkReachability!) -> Bool {
    target == other
}

public func CFHash(_ target: SCNetworkReachability!) -> CFHashCode {
    CFHashCode(bitPattern: target.hashValue)
}

public func CFCopyDescription(_ target: SCNetworkReachability!) -> CFString! {
    target.description as NSString
}

// MARK: Types

/// The one-byte truth value of C on macOS.
public struct DarwinBoolean: ExpressibleByBooleanLiteral, Equatable, CustomStringConvertible, Sendable {
    private var value: UInt8

    public init(_ value: Bool) {
        self.value = value ? 1 : 0
    }

    public init(booleanLiteral value: Bool) {
        self.init(value)
    }

    public var boolValue: Bool { value != 0 }

    public var description: String { boolValue.description }
}
