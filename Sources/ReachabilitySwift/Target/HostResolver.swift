// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Looks names up with libc's getaddrinfo, so that hosts files, mDNS and whatever else this machine is set up with are
/// honoured, on threads of its own.
///
/// A thread lives as long as there is work and no longer; there are never more than threadLimit. A look-up that hangs
/// holds up its thread and nobody else: cancelling it forgets about its answer, and never waits for it. A few more for
/// the same host may run beside it, since the network may be another one by now; more would let one host take all.
package final class HostResolver: ProcessObject, @unchecked Sendable {
    private static var local: ForkLocal<HostResolver> { ForkLocal(.resolver) { HostResolver() } }

    package static var current: HostResolver { local.current }

    static let threadLimit = 32
    static let threadLimitForHost = 4
    /// More addresses than anybody's name has; what is beyond them is not looked at.
    private static let addressLimit = 64

    /// One look-up.
    package final class Request: @unchecked Sendable {
        let host: [UInt8]
        /// Under the resolver's lock: nil once it is cancelled or answered.
        var completion: ((Request, Resolution) -> Void)?

        init(host: [UInt8], completion: @escaping (Request, Resolution) -> Void) {
            self.host = host
            self.completion = completion
        }
    }

    private let lock = Lock()
    private var waiting: [Request] = []
    private var running: [Request] = []

    /// Begins a look-up.
    ///
    /// - Parameter completion: called on another thread, at most once, and not after cancel has returned, unless it was
    ///   being called already.
    /// - Throws: when not one thread can be had.
    package func resolve(
        _ host: [UInt8], completion: @escaping (Request, Resolution) -> Void
    ) throws(Errno) -> Request {
        let request = Request(host: host, completion: completion)
        try lock.withLock { () throws(Errno) in
            // Under the lock, so that nobody relies on a thread that is not to be.
            if mayRun(request), try startThread(request) { return }
            waiting.append(request)
        }
        return request
    }

    /// Forgets about a look-up. Returns whether it is still running, on a thread that nobody waits for.
    package func cancel(_ request: Request) -> Bool {
        let (completion, isRunning) = lock.withLock {
            let completion = request.completion
            request.completion = nil
            waiting.removeAll { $0 === request }
            return (completion, running.contains { $0 === request })
        }
        withExtendedLifetime(completion) {}
        return isRunning
    }

    private func mayRun(_ request: Request) -> Bool {
        running.count < HostResolver.threadLimit
            && running.count { $0.host == request.host } < HostResolver.threadLimitForHost
    }

    /// False when there cannot be one more, but those that there are will come to it.
    private func startThread(_ request: Request) throws(Errno) -> Bool {
        running.append(request)
        do throws(Errno) {
            try Thread.start(name: HostResolver.threadName, stackSize: Thread.resolverStack) { self.work(request) }
            return true
        } catch {
            running.removeLast()
            if running.isEmpty { throw error }
            return false
        }
    }

    private static var threadName: [UInt8] { [UInt8]("reach-resolver") }

    private func work(_ first: Request) {
        var next: Request? = first
        while let request = next {
            let answer = HostResolver.lookUp(request.host)
            let completion: ((Request, Resolution) -> Void)?
            (completion, next) = lock.withLock {
                let completion = request.completion
                request.completion = nil
                running.removeAll { $0 === request }
                return (completion, takeNext())
            }
            completion?(request, answer)
        }
    }

    /// What the thread that became free is to do; nil ends it.
    private func takeNext() -> Request? {
        guard let place = waiting.firstIndex(where: mayRun) else { return nil }
        running.append(waiting[place])
        return waiting.remove(at: place)
    }

    /// Asks libc. Every answer is checked: addresses of other families, of wrong lengths and repeated ones are left
    /// out.
    private static func lookUp(_ host: [UInt8]) -> Resolution {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        var name = host
        name.append(0)
        let error = name.withUnsafeBytes { bytes -> Int32 in
            guard let start = bytes.baseAddress else { return EAI_FAIL }
            return getaddrinfo(start.assumingMemoryBound(to: CChar.self), nil, &hints, &list)
        }
        guard error == 0 else { return meaning(of: error) }
        defer { if let list { freeaddrinfo(list) } }
        var addresses = [IPAddress]()
        var next = list
        while let entry = next, addresses.count < addressLimit {
            next = entry.pointee.ai_next
            guard let start = entry.pointee.ai_addr else { continue }
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(entry.pointee.ai_addrlen))
            if let address = try? IPAddress(socketAddress: bytes), !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return addresses.isEmpty ? .notFound : .addresses(addresses)
    }

    /// Only "no such name" and "no addresses" are answers; everything else is a failure and will be tried again.
    private static func meaning(of error: Int32) -> Resolution {
        switch error {
        case EAI_NONAME, clinux_eai_nodata(), clinux_eai_addrfamily(): return .notFound
        default: return .failed
        }
    }
}
