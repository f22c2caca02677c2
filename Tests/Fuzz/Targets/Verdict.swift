// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// From the bytes of a route reply and of a link reply to the flags: whatever the kernel says, the rules hold that the
/// flags of one destination keep to.
///
/// The input is a question (family, sixteen bytes of destination, whether a source was bound), then the length of the
/// first message, then the two messages.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 20, let data else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let isV4 = bytes[0] & 1 == 0
    guard let destination = IPAddress(networkBytes: UnsafeRawBufferPointer(rebasing: bytes[1..<(isV4 ? 5 : 17)]))
    else { preconditionFailure("four or sixteen bytes are an address") }
    let source = bytes[0] & 2 == 0 ? nil : destination.last(prefixLength: Int(bytes[17]) % 129)
    let question = RouteQuestion(destination: destination, source: source)

    let messages = UnsafeRawBufferPointer(rebasing: bytes[20...])
    let middle = min(Int(bytes[18]) << 1, messages.count)
    guard let reply = Message(BoundedBytes(UnsafeRawBufferPointer(rebasing: messages[..<middle]))),
        let answer = RouteRecords.routeAnswer(reply)
    else { return 0 }
    var link = Message(BoundedBytes(UnsafeRawBufferPointer(rebasing: messages[middle...]))).flatMap(RouteRecords.link)
    if let found = link { link?.kind = LinkClassifier.kindByType(found) ?? .ethernet }

    do throws(Errno) {
        check(try FlagEvaluator.verdict(question, answer, link: link, now: 1), answer, link)
    } catch {
        // Only an error number of the kernel's can make the answer unknown.
        guard case .failure(let told) = answer else { preconditionFailure("a route became an error") }
        precondition(told == error)
    }
    return 0
}

private func check(_ verdict: Verdict, _ answer: RouteAnswer, _ link: Link?) {
    let flags = verdict.flags
    let known: ReachabilityFlags = [
        .transientConnection, .reachable, .connectionRequired, .connectionOnTraffic, .isLocalAddress, .isDirect,
        .isWWAN,
    ]
    precondition(known.isSuperset(of: flags))
    precondition(flags.isEmpty || flags.contains(.reachable))
    precondition(!flags.contains(.connectionOnTraffic) || flags.contains(.connectionRequired))
    precondition(!flags.contains(.isWWAN) || flags.contains(.transientConnection))
    precondition(!flags.contains(.isLocalAddress) || flags.contains(.isDirect))
    precondition(!flags.contains(.connectionRequired) || flags.contains(.transientConnection))
    precondition((verdict.reason == .reachable) == flags.isOnline)
    precondition((verdict.reason == .dormant) == flags.contains(.connectionRequired))
    precondition(!(verdict.isUsableByV4 && verdict.isUsableByV6))
    precondition((verdict.isUsableByV4 || verdict.isUsableByV6) == flags.isOnline)
    precondition(!verdict.reason.text.description.isEmpty)

    guard case .route(let route) = answer else {
        precondition(flags.isEmpty)
        return
    }
    if flags.isOnline, !flags.contains(.isLocalAddress) {
        guard let link else { preconditionFailure("online without a link") }
        precondition(link.isUsable)
        precondition(verdict.path.source != nil)
        precondition(flags.contains(.isWWAN) == (link.kind == .cellular))
    }
    let internet = FlagEvaluator.internetVerdict([Verdict(), verdict])
    precondition(internet.flags.isOnline == flags.isOnline)
    precondition(internet.flags.isDisjoint(with: [.isLocalAddress, .isDirect]))
    _ = route
}
