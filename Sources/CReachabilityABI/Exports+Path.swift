// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import CReach
import ReachabilitySwift

@_cdecl("reach_get_path")
public func reachGetPath(_ target: OpaquePointer?, _ path: UnsafeMutablePointer<reach_path>?, _ size: Int) -> Bool {
    guard let target = Handle.object(target, as: ReachabilityTarget.self), let path,
        size >= MemoryLayout<UInt32>.size
    else { return fail(.invalidArgument, false) }
    do throws(Errno) {
        let (verdict, generation) = try target.verdict()
        var answer = describe(verdict, generation)
        let known = min(size, MemoryLayout<reach_path>.size)
        withUnsafeBytes(of: &answer) { bytes in
            if let start = bytes.baseAddress { memcpy(path, start, known) }
        }
        // A caller from the future knows more fields than this library.
        if size > known { memset(UnsafeMutableRawPointer(path).advanced(by: known), 0, size - known) }
        return true
    } catch {
        return fail(error, false)
    }
}

private func describe(_ verdict: Verdict, _ generation: UInt64) -> reach_path {
    var path = reach_path()
    path.flags = verdict.flags.rawValue
    path.reason = verdict.reason.rawValue
    path.interface_index = verdict.path.link
    path.interface_kind = verdict.path.linkKind.rawValue
    path.generation = generation
    path.ipv4_usable = verdict.isUsableByV4 ? 1 : 0
    path.ipv6_usable = verdict.isUsableByV6 ? 1 : 0
    write(verdict.path.linkName.bytes, to: &path.interface_name)
    write(verdict.path.gateway?.text, to: &path.gateway)
    write(verdict.path.source?.text, to: &path.source)
    write(verdict.path.destination?.text, to: &path.destination)
    return path
}

/// Fills a fixed array of characters, which Swift sees as a tuple, leaving the NUL at its end.
private func write<Characters>(_ text: [UInt8]?, to field: inout Characters) {
    guard let text else { return }
    withUnsafeMutableBytes(of: &field) { bytes in
        for (index, byte) in text.prefix(bytes.count - 1).enumerated() { bytes[index] = byte }
    }
}

@_cdecl("reach_reason_text")
public func reachReasonText(_ reason: Int32) -> UnsafePointer<CChar>? {
    CText.constant(ReachabilityReason(rawValue: reason)?.text ?? "unknown reason")
}

@_cdecl("reach_link_text")
public func reachLinkText(_ kind: Int32) -> UnsafePointer<CChar>? {
    CText.constant(LinkKind(rawValue: kind)?.text ?? "unknown link")
}
