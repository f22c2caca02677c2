// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Hears when the files change that decide what names mean: resolv.conf and hosts.
///
/// Programs that write resolv.conf put a new file in its place, or write to the file that a link leads to, or write
/// into a bind-mounted one. So three things are watched: the directory, the directory that the link leads to, and the
/// file itself.
///
/// Not thread-safe: the owner's lock guards it.
package final class ResolverConfigurationWatch {
    private static let directory: StaticString = "/etc"
    private static let file: StaticString = "/etc/resolv.conf"
    private static let bufferSize = 4096

    private let fd: FileDescriptor
    private let buffer: UnsafeMutableRawBufferPointer
    private var targetDirectory: Int32 = -1
    private var targetFile: Int32 = -1
    private var targetName: [UInt8] = []
    private var etc: Int32 = -1

    package static func open() throws(Errno) -> ResolverConfigurationWatch {
        ResolverConfigurationWatch(try FileDescriptor(owning: clinux_inotify()))
    }

    private init(_ fd: consuming FileDescriptor) {
        self.fd = fd
        buffer = Memory.buffer(ResolverConfigurationWatch.bufferSize)
        etc = watch([UInt8](ResolverConfigurationWatch.directory), inDirectory)
        watchTarget()
    }

    deinit {
        Memory.release(buffer)
    }

    package func withDescriptor<Result, Failure: Error>(
        _ body: (borrowing FileDescriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(fd)
    }

    private var inDirectory: UInt32 { UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM) }
    private var onFile: UInt32 { UInt32(IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB) }

    /// Reads what happened, without waiting. True when names may mean something else now.
    package func readChanges() -> Bool {
        var changed = false
        while true {
            let count = CLinux.read(fd.rawValue, buffer.baseAddress, buffer.count)
            guard count > 0 else { break }
            let bytes = BoundedBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            var offset = 0
            // struct inotify_event: watch, mask, cookie, length of the name, name.
            while let watch = bytes.number(at: offset, as: Int32.self),
                let mask = bytes.number(at: offset + 4, as: UInt32.self),
                let length = bytes.count(at: offset + 12), length <= bytes.count - offset - 16
            {
                let name = bytes.window(from: offset + 16, count: length)
                if isRelevant(watch, mask, name) { changed = true }
                offset += 16 + length
            }
        }
        // The file or the link may be another one now.
        if changed { watchTarget() }
        return changed
    }

    private func isRelevant(_ watch: Int32, _ mask: UInt32, _ name: BoundedBytes?) -> Bool {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // The answer to a watch that was taken away.
        if mask & UInt32(IN_IGNORED) != 0 { return false }
        if watch == targetFile { return true }
        guard let name else { return false }
        if watch == etc, isName(name, [UInt8]("resolv.conf")) || isName(name, [UInt8]("hosts")) { return true }
        return watch == targetDirectory && isName(name, targetName)
    }

    private func isName(_ bytes: BoundedBytes, _ name: [UInt8]) -> Bool {
        guard bytes.count >= name.count else { return false }
        for (index, byte) in name.enumerated() where bytes.number(at: index, as: UInt8.self) != byte { return false }
        return bytes.count == name.count || bytes.number(at: name.count, as: UInt8.self) == 0
    }

    private func watchTarget() {
        let path = [UInt8](ResolverConfigurationWatch.file)
        let oldDirectory = targetDirectory
        let oldFile = targetFile
        targetFile = watch(path, onFile)
        targetDirectory = -1
        targetName = []
        if let target = ResolverConfigurationWatch.resolved(path),
            let slash = target.lastIndex(of: UInt8(ascii: "/")), slash > 0
        {
            targetDirectory = watch([UInt8](target[..<slash]), inDirectory)
            targetName = [UInt8](target[(slash + 1)...])
        }
        // A file that is kept under another name would be watched for ever.
        if oldFile >= 0, oldFile != targetFile { _ = inotify_rm_watch(fd.rawValue, oldFile) }
        if oldDirectory >= 0, oldDirectory != targetDirectory, oldDirectory != etc {
            _ = inotify_rm_watch(fd.rawValue, oldDirectory)
        }
    }

    /// -1 when it cannot be watched, such as a file that does not exist: its directory is, then.
    private func watch(_ path: [UInt8], _ mask: UInt32) -> Int32 {
        var path = path
        path.append(0)
        return path.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return inotify_add_watch(fd.rawValue, start.assumingMemoryBound(to: CChar.self), mask)
        }
    }

    /// Where a path leads when all links are followed; a link to what does not exist, when that one is.
    private static func resolved(_ path: [UInt8]) -> [UInt8]? {
        var path = path
        path.append(0)
        return path.withUnsafeBytes { bytes -> [UInt8]? in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
            if let result = realpath(start, nil) {
                defer { free(result) }
                return [UInt8](UnsafeRawBufferPointer(start: result, count: strlen(result)))
            }
            let target = [CChar](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
                count = max(0, buffer.baseAddress.map { readlink(start, $0, buffer.count) } ?? 0)
            }
            let bytes = target.map { UInt8(bitPattern: $0) }
            return bytes.first == UInt8(ascii: "/") ? bytes : [UInt8](directory) + [UInt8(ascii: "/")] + bytes
        }
    }
}
