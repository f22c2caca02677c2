// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// The filter that the kernel runs on route messages must decide as the event reader does, and must never drop a
/// message about which there is a doubt: a dropped one is a change that nobody hears of.
///
/// The input is a count of addresses, then for each a family and sixteen bytes, then a netlink datagram. The program is
/// run here by an interpreter of the few instructions it is made of, which refuses every other.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard size > 0, let data else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    var addresses = [IPAddress]()
    var offset = 1
    while addresses.count < Int(bytes[0]) % (EventFilter.addressLimit + 1), offset + 17 <= size {
        let width = bytes[offset] & 1 == 0 ? 4 : 16
        let window = UnsafeRawBufferPointer(rebasing: bytes[offset + 1..<offset + 1 + width])
        if let address = IPAddress(networkBytes: window) { addresses.append(address) }
        offset += 17
    }
    let datagram = UnsafeRawBufferPointer(rebasing: bytes[offset...])
    let filter = EventFilter(addresses: addresses)
    // The kernel takes no longer one.
    precondition(filter.program.count <= 4096)
    checkJumps(filter.program)
    guard isWhole(datagram) else { return 0 }
    let isKept = run(filter.program, datagram)

    switch NetworkEvent(datagram: BoundedBytes(datagram)) {
    case .route(let prefix, let length):
        precondition(isKept == addresses.contains { $0.matches(prefix, prefixLength: length) } || length == 0)
    case .link, .overflow: precondition(isKept)
    // A prefix that reads as IPv4-mapped is a doubt of the reader's and none of the filter's: no target of ours is in
    // it.
    case .anything: precondition(isKept || hasMappedPrefix(datagram))
    }
    return 0
}

/// Whether the kernel could have sent it: one message, whole attributes, destinations of their family's size. For
/// others a load beyond the end would end the program and drop the message, which no message of the kernel's comes to.
private func isWhole(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 16, Int(number(bytes, 0, UInt32.self)) == bytes.count else { return false }
    let type = Int(number(bytes, 4, UInt16.self))
    guard type == Int(RTM_NEWROUTE) || type == Int(RTM_DELROUTE) else { return bytes.count >= 16 }
    guard bytes.count >= 28 else { return false }
    let width = Int32(bytes[16]) == AF_INET ? 4 : 16
    var offset = 28
    while offset < bytes.count {
        guard bytes.count - offset >= 4 else { return false }
        let length = Int(number(bytes, offset, UInt16.self))
        guard length >= 4, offset + length <= bytes.count else { return false }
        let attribute = number(bytes, offset + 2, UInt16.self)
        guard attribute & 0xc000 == 0 else { return false }
        if UInt32(attribute) == RTA_DST.rawValue, length != 4 + width { return false }
        offset += (length + 3) & ~3
    }
    return true
}

private func hasMappedPrefix(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard Int32(bytes[16]) == AF_INET6, let offset = find(bytes, 28, UInt16(RTA_DST.rawValue)) else { return false }
    return IPAddress(networkBytes: UnsafeRawBufferPointer(rebasing: bytes[offset + 4..<offset + 20]))?.family == .v4
}

private func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ type: Number.Type
) -> Number {
    bytes.loadUnaligned(fromByteOffset: offset, as: type)
}

/// The kernel's nla_find: the offset of the first attribute of a type.
private func find(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ type: UInt16) -> Int? {
    var offset = start
    while bytes.count - offset >= 4 {
        let length = Int(number(bytes, offset, UInt16.self))
        guard length >= 4, length <= bytes.count - offset else { return nil }
        if number(bytes, offset + 2, UInt16.self) & 0x3fff == type { return offset }
        offset += (length + 3) & ~3
    }
    return nil
}

/// The kernel refuses a program that jumps out of itself or does not end with a return.
private func checkJumps(_ program: [sock_filter]) {
    for (place, instruction) in program.enumerated() where Int32(instruction.code) & 7 == BPF_JMP {
        if Int32(instruction.code) == BPF_JMP | BPF_JA {
            precondition(place + 1 + Int(instruction.k) < program.count)
        } else {
            precondition(place + 1 + Int(max(instruction.jt, instruction.jf)) < program.count)
        }
    }
    precondition(program.last.map { Int32($0.code) & 7 == BPF_RET } ?? false)
}

/// Runs a program as the kernel does; true when the message is kept.
private func run(_ program: [sock_filter], _ bytes: UnsafeRawBufferPointer) -> Bool {
    var accumulator: UInt32 = 0
    var index: UInt32 = 0
    var memory = [UInt32](repeating: 0, count: 16)
    var place = 0
    while place < program.count {
        let instruction = program[place]
        let k = instruction.k
        place += 1
        switch Int32(instruction.code) {
        case BPF_LD | BPF_W | BPF_ABS where k == UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR):
            accumulator = UInt32(find(bytes, Int(accumulator), UInt16(truncatingIfNeeded: index)) ?? 0)
        case BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_W | BPF_IND:
            let offset = Int(k) + (Int32(instruction.code) & BPF_IND != 0 ? Int(index) : 0)
            guard offset + 4 <= bytes.count else { return false }
            accumulator = UInt32(bigEndian: number(bytes, offset, UInt32.self))
        case BPF_LD | BPF_H | BPF_ABS:
            guard Int(k) + 2 <= bytes.count else { return false }
            accumulator = UInt32(UInt16(bigEndian: number(bytes, Int(k), UInt16.self)))
        case BPF_LD | BPF_B | BPF_ABS:
            guard Int(k) < bytes.count else { return false }
            accumulator = UInt32(bytes[Int(k)])
        case BPF_LD | BPF_IMM: accumulator = k
        case BPF_LD | BPF_MEM: accumulator = memory[Int(k)]
        case BPF_LDX | BPF_IMM: index = k
        case BPF_LDX | BPF_MEM: index = memory[Int(k)]
        case BPF_ST: memory[Int(k)] = accumulator
        case BPF_MISC | BPF_TAX: index = accumulator
        case BPF_ALU | BPF_XOR | BPF_K: accumulator ^= k
        case BPF_ALU | BPF_AND | BPF_X: accumulator &= index
        case BPF_ALU | BPF_SUB | BPF_X: accumulator = accumulator &- index
        case BPF_ALU | BPF_RSH | BPF_X:
            precondition(index < 32)
            accumulator >>= index
        case BPF_ALU | BPF_LSH | BPF_X:
            precondition(index < 32)
            accumulator <<= index
        case BPF_JMP | BPF_JA: place += Int(k)
        case BPF_JMP | BPF_JEQ | BPF_K: place += Int(accumulator == k ? instruction.jt : instruction.jf)
        case BPF_JMP | BPF_JGT | BPF_K: place += Int(accumulator > k ? instruction.jt : instruction.jf)
        case BPF_JMP | BPF_JGE | BPF_K: place += Int(accumulator >= k ? instruction.jt : instruction.jf)
        case BPF_RET | BPF_K: return k != 0
        default: preconditionFailure("an instruction that the interpreter does not know")
        }
    }
    preconditionFailure("the program ran off its end")
}
