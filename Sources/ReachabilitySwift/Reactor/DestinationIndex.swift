// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Finds out whose answer a route message can affect: the addresses that lie in its prefix.
///
/// Made anew when it is asked after something was added or removed, so that scheduling costs nothing.
struct DestinationIndex {
    struct Entry {
        let address: IPAddress
        /// The subscription's place, or -1 minus the place of a probe for the internet.
        let slot: Int
    }

    private var entries: [Entry] = []

    mutating func rebuild(_ new: [Entry]) {
        entries = new
        entries.withUnsafeMutableBytes { bytes in
            // libc's: Swift's own would be a twentieth of the library.
            guard let start = bytes.baseAddress else { return }
            qsort(start, bytes.count / MemoryLayout<Entry>.stride, MemoryLayout<Entry>.stride) { left, right in
                guard let left = left?.load(as: Entry.self).address, let right = right?.load(as: Entry.self).address
                else { return 0 }
                return IPAddress.precedes(left, right) ? -1 : IPAddress.precedes(right, left) ? 1 : 0
            }
        }
    }

    /// Hands out the place of each address in the prefix.
    func forEach(prefix: IPAddress, length: Int, _ body: (Int) -> Void) {
        let last = prefix.last(prefixLength: length)
        var place = lowerBound(prefix.first(prefixLength: length))
        while place < entries.count, !IPAddress.precedes(last, entries[place].address) {
            if entries[place].address.matches(prefix, prefixLength: length) { body(entries[place].slot) }
            place += 1
        }
    }

    private func lowerBound(_ address: IPAddress) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if IPAddress.precedes(entries[middle].address, address) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
