// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

@testable import ReachabilitySwift

/// The description of flags, for each 32-bit number in the input: its words and its hexadecimal rest give the number
/// again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    var offset = 0
    while offset + 4 <= size {
        check(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        offset += 4
    }
    return 0
}

private let words: [(String, UInt32)] = [
    ("Reachable", 0x2), ("Transient Connection", 0x1), ("Connection Required", 0x4),
    ("Automatic Connection On Traffic", 0x8), ("Automatic Connection On Demand", 0x20), ("Intervention Required", 0x10),
    ("Local Address", 0x10000), ("Directly Reachable Address", 0x20000), ("WWAN", 0x40000), ("Not Reachable", 0),
]

private func check(_ number: UInt32) {
    let flags = ReachabilityFlags(rawValue: number)
    let text = String(decoding: flags.descriptionBytes, as: UTF8.self)
    precondition(text.utf8.count < 256)
    var sum: UInt32 = 0
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        if part.hasPrefix("0x") {
            guard let rest = UInt32(part.dropFirst(2), radix: 16) else { preconditionFailure("\(part) is no number") }
            precondition(part.count == 10 && sum & rest == 0)
            sum |= rest
        } else {
            guard let word = words.first(where: { $0.0 == part }) else { preconditionFailure("\(part) is no word") }
            precondition(sum & word.1 == 0)
            sum |= word.1
        }
    }
    precondition(sum == number)
    precondition(flags.isOnline == (number & 0x6 == 0x2))
    precondition(flags.status != .unknown)
    precondition((flags.status == .notReachable) == !flags.isOnline)
}
