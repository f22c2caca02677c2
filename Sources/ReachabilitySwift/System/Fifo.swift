// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// First in, first out, in amortised constant time and with memory in proportion to what is in it.
package struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Takes out the first element for which a condition holds, wherever it stands.
    package mutating func remove(where condition: (Element) -> Bool) {
        for place in head..<elements.count {
            if let element = elements[place], condition(element) {
                elements.remove(at: place)
                return
            }
        }
    }

    package mutating func popFirst() -> Element? {
        guard head < elements.count, let element = elements[head] else { return nil }
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= 64)
            head = 0
        } else if head > 64, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
