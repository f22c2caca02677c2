// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

internal import Synchronization

/// Something of the client's that goes along with its callback, and how it is counted.
public struct SCNetworkReachabilityContext {
    /// Not looked at.
    public var version: CFIndex
    /// Handed to the functions here, and to the callback.
    public var info: UnsafeMutableRawPointer?
    /// Called when the callback is set, and before each callout; what it returns is used in place of info.
    public var retain: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer)?
    /// Called once for each time that retain was.
    public var release: (@convention(c) (UnsafeRawPointer) -> Void)?
    /// Never called, as on macOS. It is no function pointer of C: no class that Swift strings turn into can be named in
    /// one.
    public var copyDescription: ((UnsafeRawPointer) -> Unmanaged<CFString>)?

    public init() {
        self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
    }

    public init(
        version: CFIndex, info: UnsafeMutableRawPointer?,
        retain: (@convention(c) (UnsafeRawPointer) -> UnsafeRawPointer)?,
        release: (@convention(c) (UnsafeRawPointer) -> Void)?,
        copyDescription: ((UnsafeRawPointer) -> Unmanaged<CFString>)?
    ) {
        self.version = version
        self.info = info
        self.retain = retain
        self.release = release
        self.copyDescription = copyDescription
    }
}

/// A callback with its context. What the context's retain returned is released when the last user has dropped the
/// client.
///
/// The users are counted here and not by Swift, so that it is said exactly when the client's release function is
/// called.
final class Client: Sendable {
    // The functions of a context are called for an info of NULL too, which their types do not allow for.
    private typealias Retain = @convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?
    private typealias Release = @convention(c) (UnsafeRawPointer?) -> Void

    private let callout: SCNetworkReachabilityCallBack?
    private let retain: Retain?
    private let release: Release?
    nonisolated(unsafe) private let info: UnsafeRawPointer?
    private let users = Atomic<Int>(1)

    init(_ callout: SCNetworkReachabilityCallBack?, _ context: SCNetworkReachabilityContext?) {
        self.callout = callout
        retain = context?.retain.map { unsafeBitCast($0, to: Retain.self) }
        release = context?.release.map { unsafeBitCast($0, to: Release.self) }
        let info = UnsafeRawPointer(context?.info)
        self.info = if let retain { retain(info) } else { info }
    }

    func keep() {
        users.add(1, ordering: .relaxed)
    }

    func drop() {
        if users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { release?(info) }
    }

    /// Calls the client, without a lock, and drops it.
    ///
    /// The info of a context that can retain is protected by that alone, as on macOS: the context may be released while
    /// the callout runs. The info of one that cannot is protected by keeping the context until then.
    func call(_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags) {
        guard let retain else {
            callout?(target, flags, UnsafeMutableRawPointer(mutating: info))
            return drop()
        }
        let own = retain(info)
        drop()
        callout?(target, flags, UnsafeMutableRawPointer(mutating: own))
        release?(own)
    }
}
