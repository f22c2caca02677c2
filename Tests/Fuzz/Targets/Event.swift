// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// What an event datagram is taken to be about: it may be less than it says only where "anything" is said instead.
///
/// An event that is read as being about one prefix or link keeps every other verdict as it is, so reading too little
/// into it would be a change that nobody hears of.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    let event = NetworkEvent(datagram: BoundedBytes(bytes))
    switch event {
    case .route(let prefix, let length):
        precondition(isAbout(bytes, RTM_NEWROUTE, RTM_DELROUTE))
        precondition(length >= 0 && length <= prefix.family.bitWidth)
        precondition(Int(bytes[16]) == Int(prefix.family.rawValue) && Int(bytes[17]) == length)
        precondition(prefix.matches(prefix, prefixLength: length))
    case .link(let index, let isGone):
        precondition(isAbout(bytes, RTM_NEWLINK, RTM_DELLINK))
        precondition(isGone == isAbout(bytes, RTM_DELLINK, RTM_DELLINK))
        precondition(bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self) == index)
    case .anything: break
    case .overflow: preconditionFailure("no datagram says so")
    }

    // However much of it was cut off, the beginning says the same, or a doubt.
    for count in [size / 2, 64, 192] where count < size {
        let beginning = NetworkEvent(datagram: BoundedBytes(UnsafeRawBufferPointer(rebasing: bytes[..<count])))
        precondition(beginning == event || beginning == .anything)
    }
    return 0
}

private func isAbout(_ bytes: UnsafeRawBufferPointer, _ types: Int...) -> Bool {
    bytes.count >= 16 && types.contains(Int(bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
}
