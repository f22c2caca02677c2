// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// Socket addresses as callers and resolvers hand them in: two of them, the first byte telling where the second begins.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 0, let data else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: data + 1, count: size - 1)
    let middle = min(Int(data[0]), bytes.count)
    let first = read(UnsafeRawBufferPointer(rebasing: bytes[..<middle]))
    let second = read(UnsafeRawBufferPointer(rebasing: bytes[middle...]))
    if let first { checkPrefixes(first, second ?? first) }

    var questions = [RouteQuestion]()
    guard let pair = try? Destination(local: first, remote: second) else {
        precondition(first == nil && second == nil)
        return 0
    }
    pair.appendQuestions(resolution: .none, to: &questions)
    precondition(!questions.isEmpty && questions.count <= 2)
    for question in questions {
        if let source = question.source { precondition(source.family == question.destination.family) }
    }
    let verdicts = [Verdict](repeating: Verdict(flags: [.reachable], reason: .reachable), count: questions.count)
    _ = pair.verdict(verdicts[...], internet: Verdict(), resolution: .none)
    return 0
}

private func read(_ bytes: UnsafeRawBufferPointer) -> IPAddress? {
    do throws(Errno) {
        let address = try IPAddress(socketAddress: bytes)
        precondition(bytes.count >= 16 && bytes.count <= 128)
        precondition(address.byteCount == 4 || address.byteCount == 16)
        precondition(AddressLiteral.parse(address.text) == address.unscoped)
        // An IPv4-mapped address is IPv4 whichever way it comes.
        precondition(address.family == .v4 || !(address.high == 0 && address.low >> 32 == 0xffff))
        return address
    } catch {
        precondition(error.rawValue == EINVAL || error.rawValue == EAFNOSUPPORT)
        return nil
    }
}

/// The arithmetic of prefixes, bit by bit.
private func checkPrefixes(_ left: IPAddress, _ right: IPAddress) {
    let width = left.family.bitWidth
    var common = 0
    if left.family == right.family {
        while common < width, bit(left, common) == bit(right, common) { common += 1 }
    }
    for length in 0...width {
        let expected = left.family == right.family && common >= length
        precondition(left.matches(right, prefixLength: length) == expected)
        let last = left.last(prefixLength: length)
        precondition(last.family == left.family)
        precondition(last.unscoped.matches(left, prefixLength: length))
        precondition(!IPAddress.precedes(last, left))
        for index in length..<width { precondition(bit(last, index) == 1) }
    }
    precondition(!left.matches(right, prefixLength: width + 1))
    precondition(!(IPAddress.precedes(left, right) && IPAddress.precedes(right, left)))
}

private func bit(_ address: IPAddress, _ index: Int) -> UInt8 {
    address.byte(index / 8) >> UInt8(7 - index % 8) & 1
}
