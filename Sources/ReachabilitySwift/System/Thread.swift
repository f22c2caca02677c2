// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Starting threads that are good guests in somebody's process: detached, nameable, with every signal blocked.
package enum Thread {
    private final class Body {
        let run: () -> Void
        let name: [UInt8]

        init(name: [UInt8], run: @escaping () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Enough for getaddrinfo and the modules it loads, however small the process's default is.
    static let resolverStack = 512 * 1024

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: shown by debuggers; cut to 15 bytes.
    ///   - stackSize: bytes; nil for the process's default.
    ///   - run: what the thread does.
    package static func start(name: [UInt8], stackSize: Int?, run: @escaping () -> Void) throws(Errno) {
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        let error = clinux_thread_start(
            stackSize ?? 0,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                var name = [UInt8](body.name.prefix(15))
                name.append(0)
                name.withUnsafeBytes { bytes in
                    if let start = bytes.baseAddress {
                        _ = pthread_setname_np(pthread_self(), start.assumingMemoryBound(to: CChar.self))
                    }
                }
                body.run()
                return nil
            }, body.toOpaque())
        if error != 0 {
            body.release()
            throw Errno(rawValue: error)
        }
    }
}
