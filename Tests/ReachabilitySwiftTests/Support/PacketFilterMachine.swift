// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

@testable import ReachabilitySwift

/// The machine of classic BPF, as far as socket filters of netlink messages need it, in the words of the kernel's
/// documentation: an accumulator, an index register, sixteen cells, and a packet that is read big-endian.
struct PacketFilterMachine {
    enum Fault: Error, Equatable {
        case unknownInstruction(UInt16)
        case endOfProgram
        case shift(UInt32)
        case cell(UInt32)
    }

    let program: [sock_filter]

    /// How many bytes of the packet are let through; 0 drops it.
    func run(_ packet: [UInt8]) throws(Fault) -> UInt32 {
        var accumulator: UInt32 = 0
        var index: UInt32 = 0
        var cells = [UInt32](repeating: 0, count: Int(BPF_MEMWORDS))
        var counter = 0
        while counter < program.count {
            let instruction = program[counter]
            let constant = instruction.k
            counter += 1
            switch Int32(instruction.code) {
            case BPF_RET | BPF_K: return constant
            case BPF_LD | BPF_IMM: accumulator = constant
            case BPF_LDX | BPF_IMM: index = constant
            case BPF_LD | BPF_MEM: accumulator = try cell(constant, cells)
            case BPF_LDX | BPF_MEM: index = try cell(constant, cells)
            case BPF_ST:
                _ = try cell(constant, cells)
                cells[Int(constant)] = accumulator
            case BPF_LD | BPF_W | BPF_ABS where Int32(bitPattern: constant) == SKF_AD_OFF + SKF_AD_NLATTR:
                accumulator = attribute(index, from: accumulator, in: packet)
            case BPF_LD | BPF_W | BPF_ABS:
                guard let value = load(packet, UInt64(constant), 4) else { return 0 }
                accumulator = value
            case BPF_LD | BPF_H | BPF_ABS:
                guard let value = load(packet, UInt64(constant), 2) else { return 0 }
                accumulator = value
            case BPF_LD | BPF_B | BPF_ABS:
                guard let value = load(packet, UInt64(constant), 1) else { return 0 }
                accumulator = value
            case BPF_LD | BPF_W | BPF_IND:
                guard let value = load(packet, UInt64(constant) + UInt64(index), 4) else { return 0 }
                accumulator = value
            case BPF_MISC | BPF_TAX: index = accumulator
            case BPF_ALU | BPF_SUB | BPF_X: accumulator = accumulator &- index
            case BPF_ALU | BPF_XOR | BPF_K: accumulator ^= constant
            case BPF_ALU | BPF_AND | BPF_X: accumulator &= index
            case BPF_ALU | BPF_RSH | BPF_X:
                guard index < 32 else { throw .shift(index) }
                accumulator >>= index
            case BPF_ALU | BPF_LSH | BPF_X:
                guard index < 32 else { throw .shift(index) }
                accumulator <<= index
            case BPF_JMP | BPF_JA: counter += Int(constant)
            case BPF_JMP | BPF_JEQ | BPF_K: counter += Int(accumulator == constant ? instruction.jt : instruction.jf)
            case BPF_JMP | BPF_JGT | BPF_K: counter += Int(accumulator > constant ? instruction.jt : instruction.jf)
            case BPF_JMP | BPF_JGE | BPF_K: counter += Int(accumulator >= constant ? instruction.jt : instruction.jf)
            default: throw .unknownInstruction(instruction.code)
            }
        }
        throw .endOfProgram
    }

    private func cell(_ index: UInt32, _ cells: [UInt32]) throws(Fault) -> UInt32 {
        guard index < UInt32(cells.count) else { throw .cell(index) }
        return cells[Int(index)]
    }

    /// Nil ends the program with "drop", as in the kernel.
    private func load(_ packet: [UInt8], _ offset: UInt64, _ count: UInt64) -> UInt32? {
        guard offset + count <= UInt64(packet.count) else { return nil }
        return packet[Int(offset)..<Int(offset + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Where the first attribute of a type is, from an offset on; 0 when there is none.
    private func attribute(_ type: UInt32, from start: UInt32, in packet: [UInt8]) -> UInt32 {
        var offset = Int(start)
        while packet.count - offset >= 4 {
            let length = Int(packet[offset]) | Int(packet[offset + 1]) << 8
            let found = UInt32(packet[offset + 2]) | UInt32(packet[offset + 3] & 0x3f) << 8
            guard length >= 4, length <= packet.count - offset else { return 0 }
            if found == type { return UInt32(offset) }
            offset += (length + 3) & ~3
        }
        return 0
    }
}

/// The kernel's own machine: a pair of sockets of which one has the filter.
final class FilteredSocketPair {
    private let sender: Int32
    private let receiver: Int32

    init?(_ filter: EventFilter) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &descriptors) == 0 else {
            return nil
        }
        (sender, receiver) = (descriptors[0], descriptors[1])
        var program = filter.program
        let count = UInt16(program.count)
        let result = program.withUnsafeMutableBufferPointer { clinux_attach_filter(receiver, $0.baseAddress, count) }
        guard result == 0 else { return nil }
    }

    deinit {
        close(sender)
        close(receiver)
    }

    /// Whether a datagram comes through.
    func passes(_ packet: [UInt8]) -> Bool {
        guard send(sender, packet, packet.count, 0) == packet.count else { fatalError("cannot send: \(Errno.last)") }
        var buffer = [UInt8](repeating: 0, count: packet.count + 1)
        let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count == packet.count
    }
}
