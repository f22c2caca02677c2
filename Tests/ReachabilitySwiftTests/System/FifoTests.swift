// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("Fifo")
struct FifoTests {
    @Test("gives back in the order in which it took")
    func order() {
        var fifo = Fifo<Int>()
        var model: [Int] = []
        var random = SeededGenerator(seed: 11)
        for number in 0..<20_000 {
            // In runs, so that it grows beyond the size from which on it is compacted, and becomes empty at times.
            if (number / 700) % 2 == 0 ? Bool.random(using: &random) || number % 3 == 0 : number % 5 == 0 {
                fifo.append(number)
                model.append(number)
            } else {
                #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(fifo.count == model.count)
            #expect(fifo.isEmpty == model.isEmpty)
        }
        while let element = fifo.popFirst() { #expect(element == model.removeFirst()) }
        #expect(model.isEmpty)
    }

    @Test("lets go of what was taken out")
    func releases() {
        final class Object {}
        var fifo = Fifo<Object>()
        weak var first: Object?
        do {
            let object = Object()
            first = object
            fifo.append(object)
            fifo.append(Object())
        }
        #expect(first != nil)
        _ = fifo.popFirst()
        #expect(first == nil)
        #expect(fifo.count == 1)
    }
}
