// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// A program for the kernel that drops route messages about prefixes in which nobody is interested, before they wake
/// anybody.
///
/// It keeps everything it is not sure about: every message that is no route message, other families, routes without a
/// prefix length or destination. So it can only err by letting through; EventSocket's reader then decides with the same
/// rule.
///
/// Classic BPF reads numbers as big-endian. The message's type is in the machine's byte order, so that it is compared
/// with swapped constants; addresses are big-endian, so that they read as the model's numbers.
package struct EventFilter {
    /// Above this many addresses the program would be longer than it is worth, and nothing is filtered.
    package static let addressLimit = 96

    package private(set) var program: [sock_filter] = []

    private static let accept: UInt32 = 0xffff_ffff
    private static let drop: UInt32 = 0

    /// Where the fields of a route message are.
    private enum Offset {
        static let type: UInt32 = 4
        static let family: UInt32 = 16
        static let prefixLength: UInt32 = 17
        static let attributes: UInt32 = 28
        static let attributeValue: UInt32 = 4
    }

    /// Scratch memory cells: the address of the message as words, then a mask for each of them.
    private enum Cell {
        static let shift: UInt32 = 0
        static let length: UInt32 = 1
        static func word(_ index: Int) -> UInt32 { UInt32(2 + index) }
        static func mask(_ index: Int) -> UInt32 { UInt32(6 + index) }
    }

    /// A program that lets through what can matter to these addresses.
    package init(addresses: [IPAddress]) {
        let v4 = addresses.filter { $0.family == .v4 }
        let v6 = addresses.filter { $0.family == .v6 }
        load(BPF_H | BPF_ABS, Offset.type)
        jump(BPF_JEQ, UInt32(UInt16(RTM_NEWROUTE).bigEndian), ifTrue: 2, ifFalse: 0)
        jump(BPF_JEQ, UInt32(UInt16(RTM_DELROUTE).bigEndian), ifTrue: 1, ifFalse: 0)
        end(EventFilter.accept)
        load(BPF_B | BPF_ABS, Offset.family)
        jump(BPF_JEQ, UInt32(AF_INET), ifTrue: 1, ifFalse: 0)
        let overV4 = program.count
        skip(0)
        appendV4(v4)
        // The accumulator still holds the family: everything above that came by another way has ended.
        program[overV4].k = UInt32(program.count - overV4 - 1)
        jump(BPF_JEQ, UInt32(AF_INET6), ifTrue: 1, ifFalse: 0)
        end(EventFilter.accept)
        appendV6(v6)
    }

    private mutating func appendV4(_ addresses: [IPAddress]) {
        appendPrefixLength(longest: 32)
        // How many bits do not count.
        emit(BPF_MISC | BPF_TAX, 0)
        load(BPF_IMM, 32)
        emit(BPF_ALU | BPF_SUB | BPF_X, 0)
        emit(BPF_ST, Cell.shift)
        appendDestination(words: 1)
        emit(BPF_LDX | BPF_MEM, Cell.shift)
        for address in addresses {
            load(BPF_MEM, Cell.word(0))
            emit(BPF_ALU | BPF_XOR | BPF_K, UInt32(truncatingIfNeeded: address.low))
            emit(BPF_ALU | BPF_RSH | BPF_X, 0)
            jump(BPF_JEQ, 0, ifTrue: 0, ifFalse: 1)
            end(EventFilter.accept)
        }
        end(EventFilter.drop)
    }

    private mutating func appendV6(_ addresses: [IPAddress]) {
        appendPrefixLength(longest: 128)
        emit(BPF_ST, Cell.length)
        for index in 0..<4 { appendMask(index) }
        appendDestination(words: 4)
        for address in addresses {
            for index in 0..<4 {
                let half = index < 2 ? address.high : address.low
                load(BPF_MEM, Cell.word(index))
                emit(BPF_ALU | BPF_XOR | BPF_K, UInt32(truncatingIfNeeded: index % 2 == 0 ? half >> 32 : half))
                emit(BPF_LDX | BPF_MEM, Cell.mask(index))
                emit(BPF_ALU | BPF_AND | BPF_X, 0)
                // On to the next word of five instructions, or over the rest of this address.
                jump(BPF_JEQ, 0, ifTrue: 0, ifFalse: UInt8(5 * (3 - index) + 1))
            }
            end(EventFilter.accept)
        }
        end(EventFilter.drop)
    }

    /// Leaves the prefix length in the accumulator; a default route, or a length that cannot be, is let through.
    private mutating func appendPrefixLength(longest: UInt32) {
        load(BPF_B | BPF_ABS, Offset.prefixLength)
        jump(BPF_JEQ, 0, ifTrue: 1, ifFalse: 0)
        jump(BPF_JGT, longest, ifTrue: 0, ifFalse: 1)
        end(EventFilter.accept)
    }

    /// Stores the words of the destination attribute; a message without one is let through.
    private mutating func appendDestination(words: Int) {
        emit(BPF_LDX | BPF_IMM, RTA_DST.rawValue)
        load(BPF_IMM, Offset.attributes)
        load(BPF_W | BPF_ABS, UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR))
        jump(BPF_JEQ, 0, ifTrue: 0, ifFalse: 1)
        end(EventFilter.accept)
        emit(BPF_MISC | BPF_TAX, 0)
        for index in 0..<words {
            load(BPF_W | BPF_IND, Offset.attributeValue + UInt32(4 * index))
            emit(BPF_ST, Cell.word(index))
        }
    }

    /// Stores the mask of one word: all ones, all zeros, or ones at the front.
    private mutating func appendMask(_ index: Int) {
        let from = UInt32(32 * index)
        load(BPF_MEM, Cell.length)
        jump(BPF_JGE, from + 32, ifTrue: 10, ifFalse: 0)  // to "all ones"
        jump(BPF_JGT, from, ifTrue: 2, ifFalse: 0)  // to "ones at the front"
        load(BPF_IMM, 0)
        skip(8)  // to the store
        load(BPF_IMM, from + 32)
        emit(BPF_LDX | BPF_MEM, Cell.length)
        emit(BPF_ALU | BPF_SUB | BPF_X, 0)
        emit(BPF_MISC | BPF_TAX, 0)
        load(BPF_IMM, 0xffff_ffff)
        emit(BPF_ALU | BPF_LSH | BPF_X, 0)
        skip(1)  // to the store
        load(BPF_IMM, 0xffff_ffff)  // all ones
        emit(BPF_ST, Cell.mask(index))
    }

    private mutating func load(_ mode: Int32, _ operand: UInt32) {
        emit(BPF_LD | mode, operand)
    }

    private mutating func jump(_ comparison: Int32, _ operand: UInt32, ifTrue: UInt8, ifFalse: UInt8) {
        program.append(
            sock_filter(code: UInt16(BPF_JMP | comparison | BPF_K), jt: ifTrue, jf: ifFalse, k: operand))
    }

    private mutating func skip(_ count: UInt32) {
        emit(BPF_JMP | BPF_JA, count)
    }

    private mutating func end(_ verdict: UInt32) {
        emit(BPF_RET | BPF_K, verdict)
    }

    private mutating func emit(_ code: Int32, _ operand: UInt32) {
        program.append(sock_filter(code: UInt16(code), jt: 0, jf: 0, k: operand))
    }
}

extension EventSocket {
    /// Lets the kernel drop what a filter drops; nil lets everything through again.
    package func setFilter(_ filter: EventFilter?) throws(Errno) {
        guard let filter else {
            // There may be none to take away.
            _ = withDescriptor { clinux_detach_filter($0.rawValue) }
            return
        }
        var program = filter.program
        let count = UInt16(program.count)
        let result = program.withUnsafeMutableBufferPointer { instructions in
            withDescriptor { clinux_attach_filter($0.rawValue, instructions.baseAddress, count) }
        }
        if result != 0 { throw Errno.last }
    }
}
