// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Synchronization

/// A few words that are zero again in every child that fork makes, however it was made.
///
/// This is how a child learns that the sockets and locks it inherited are its parent's. An atfork handler would miss
/// children made by a bare clone, and comparing process ids costs a system call at each question. Where the kernel
/// cannot wipe a page at fork (before Linux 4.14), the process id is compared after all.
package final class ForkPage: @unchecked Sendable {
    /// Who uses which word.
    package enum Slot: Int {
        case process, asker, resolver, clients
    }

    private static let slotCount = 4

    /// What was stored last, by this process or by one it was forked from. Kept apart from the page so that whoever
    /// looks for leaks finds what the process keeps on purpose, and so that a child finds what it inherited.
    private let last = Memory.buffer(ForkPage.slotCount * MemoryLayout<Atomic<UInt>>.stride)
        .bindMemory(to: Atomic<UInt>.self)

    /// The address of the one that all share, 0 before the first use. A plain word, since a constant that Swift makes
    /// at first use would stay "being made" for ever in a child that is forked meanwhile by another thread. For the
    /// same reason nothing in the core is such a constant, unless the compiler makes it.
    private static let sharedAddress = Atomic<UInt>(0)

    @inline(__always)
    package static var shared: ForkPage {
        let address = sharedAddress.load(ordering: .acquiring)
        if let pointer = UnsafeRawPointer(bitPattern: address) {
            return Unmanaged<ForkPage>.fromOpaque(pointer).takeUnretainedValue()
        }
        return makeShared()
    }

    /// The shared one's value, without a reference being taken and dropped for each question that is asked.
    @inline(__always)
    static func sharedValue(_ slot: Slot) -> UInt {
        let address = sharedAddress.load(ordering: .acquiring)
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return 0 }
        return Unmanaged<ForkPage>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.value(slot) }
    }

    @inline(never)
    private static func makeShared() -> ForkPage {
        let new = Unmanaged.passRetained(ForkPage(wiping: true))
        let (isFirst, original) = sharedAddress.compareExchange(
            expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst, let pointer = UnsafeRawPointer(bitPattern: original) else { return new.takeUnretainedValue() }
        new.release()
        return Unmanaged<ForkPage>.fromOpaque(pointer).takeUnretainedValue()
    }

    private let words: UnsafeMutablePointer<Atomic<UInt>>
    /// For each word the process that stored it, when the kernel does not wipe the page.
    private let owners: UnsafeMutablePointer<Atomic<Int32>>?

    package init(wiping: Bool) {
        if wiping, let page = clinux_map_wipe_on_fork(ForkPage.pageSize) {
            words = page.bindMemory(to: Atomic<UInt>.self, capacity: ForkPage.slotCount)
            owners = nil
            return
        }
        // Zeros are what both kinds of atomic begin with.
        guard let words = Memory.buffer(ForkPage.slotCount * MemoryLayout<Atomic<UInt>>.stride).baseAddress,
            let owners = Memory.buffer(ForkPage.slotCount * MemoryLayout<Atomic<Int32>>.stride).baseAddress
        else { fatalError("out of memory") }
        self.words = words.bindMemory(to: Atomic<UInt>.self, capacity: ForkPage.slotCount)
        self.owners = owners.bindMemory(to: Atomic<Int32>.self, capacity: ForkPage.slotCount)
    }

    deinit {
        free(last.baseAddress)
        if let owners {
            free(words)
            free(owners)
        } else {
            munmap(words, ForkPage.pageSize)
        }
    }

    private static var pageSize: Int { Int(sysconf(Int32(_SC_PAGESIZE))) }

    /// What this process stored, or zero when only its parent did.
    @inline(__always)
    package func value(_ slot: Slot) -> UInt {
        if let owners, owners[slot.rawValue].load(ordering: .acquiring) != getpid() { return 0 }
        return words[slot.rawValue].load(ordering: .acquiring)
    }

    /// What the process that this one was forked from stored; zero when there is nothing of the kind.
    package func inherited(_ slot: Slot) -> UInt {
        value(slot) == 0 ? last[slot.rawValue].load(ordering: .acquiring) : 0
    }

    /// Notes that a value stands, for whoever looks for leaks and for children.
    func note(_ slot: Slot, _ value: UInt) {
        last[slot.rawValue].store(value, ordering: .releasing)
    }

    /// Stores a value unless another thread of this process was first. Returns the value that stands.
    package func claim(_ slot: Slot, _ new: UInt) -> UInt {
        if let owners {
            let process = getpid()
            let before = owners[slot.rawValue].load(ordering: .acquiring)
            if before != process, before != 0 {
                // A child right after fork has one thread, so nothing can come between these two stores.
                words[slot.rawValue].store(new, ordering: .releasing)
                owners[slot.rawValue].store(process, ordering: .releasing)
                return new
            }
            owners[slot.rawValue].store(process, ordering: .releasing)
        }
        let (exchanged, original) = words[slot.rawValue].compareExchange(
            expected: 0, desired: new, ordering: .acquiringAndReleasing)
        return exchanged ? new : original
    }
}

/// Something of which each process has one.
package class ProcessObject: @unchecked Sendable {
    /// The one that was inherited over a fork and could not be freed.
    fileprivate final var inherited: UInt = 0

    /// In a child, right after the first use of its own: frees what the parent's object holds, if that can be done. It
    /// is not known what the parent's other threads were doing with it.
    package func discardAfterFork() -> Bool { false }
}

/// An object of which each process has one: made at first use, never freed, and made afresh in a forked child.
package struct ForkLocal<Object: ProcessObject>: @unchecked Sendable {
    private let slot: ForkPage.Slot
    private let make: () -> Object

    package init(_ slot: ForkPage.Slot, _ make: @escaping () -> Object) {
        self.slot = slot
        self.make = make
    }

    @inline(__always)
    package var current: Object {
        let bits = ForkPage.sharedValue(slot)
        if let pointer = UnsafeRawPointer(bitPattern: bits) {
            return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
        }
        return makeCurrent()
    }

    @inline(never)
    private func makeCurrent() -> Object {
        let old = UnsafeRawPointer(bitPattern: ForkPage.shared.inherited(slot))
        let new = Unmanaged.passRetained(make())
        let stands = ForkPage.shared.claim(slot, UInt(bitPattern: new.toOpaque()))
        guard let pointer = UnsafeRawPointer(bitPattern: stands), stands != UInt(bitPattern: new.toOpaque()) else {
            let object = new.takeUnretainedValue()
            ForkPage.shared.note(slot, stands)
            if let old {
                let inherited = Unmanaged<Object>.fromOpaque(old)
                if inherited.takeUnretainedValue().discardAfterFork() {
                    inherited.release()
                } else {
                    object.inherited = UInt(bitPattern: old)
                }
            }
            return object
        }
        new.release()
        return Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// Stands for this process: what was made under another one belongs to the parent.
package final class ProcessMark: ProcessObject, @unchecked Sendable {
    private static var local: ForkLocal<ProcessMark> { ForkLocal(.process) { ProcessMark() } }

    package static var current: ProcessMark { local.current }

    /// Guards what is scheduled where, for all targets: a lock of each target's own could stay locked in a forked
    /// child. Innermost: no other lock is taken and no system call is made under it.
    package let schedules = Lock()

    let clock = Clock()

    package var isCurrent: Bool { ProcessMark.current === self }
}
