// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// A window on the kernel: one socket that hears of changes, one that asks.
///
/// There is no copy of the routing table here, and there must be none: routes also vanish unannounced (when a link goes
/// down or an address goes), rules and nexthop objects change which ones count, and a copy would have to repeat all
/// that the kernel does. What is kept is the state of the few links that answers named, each until the kernel says that
/// something about it changed.
///
/// Order matters. The kernel announces many changes before it makes them, with its configuration lock held. So after
/// anything was heard, the next questions are sent behind an RTM_GETLINK: its handler takes the same lock, so that by
/// the time the questions are looked at, the change is made.
///
/// Not thread-safe: the owner's lock guards it.
package final class KernelView {
    private let events: EventSocket
    private let requests: RequestSocket
    private let clock: Clock

    /// The links that answers named, sorted by index.
    private var links: [Link] = []
    /// What each of them is, which stays the same for as long as the link exists.
    private var kinds: [Link] = []
    private var owesBarrier = false
    /// The answers of one batch; kept so that asking allocates nothing.
    private var scratch: [RouteAnswer] = []
    /// The link that the next barrier asks for: the last one that was forgotten, since it will be needed, or else one
    /// that does not exist, to which the answer is short.
    private var barrierLink = AddressLiteral.noLink

    /// Opens the sockets in the network namespace of the calling thread.
    package static func open(receiveBuffer: Int32?, clock: Clock) throws(Errno) -> KernelView {
        KernelView(try EventSocket.open(receiveBuffer: receiveBuffer), try RequestSocket.open(), clock)
    }

    private init(_ events: EventSocket, _ requests: RequestSocket, _ clock: Clock) {
        self.events = events
        self.requests = requests
        self.clock = clock
    }

    /// Leaves the descriptors' numbers alone, which somebody else has closed.
    package func abandon() {
        events.abandon()
        requests.abandon()
    }

    /// Leaves the descriptors' numbers alone where somebody else has them now.
    package func abandonIfReplaced() {
        events.abandonIfReplaced()
        requests.abandonIfReplaced()
    }

    /// Whether nothing was announced since the last drain. False when in doubt.
    @inline(__always)
    package func isQuiet() -> Bool { events.isQuiet() }

    package func withEventDescriptor<Result, Failure: Error>(
        _ body: (borrowing FileDescriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try events.withDescriptor(body)
    }

    /// Lets the kernel drop the announcements that a filter drops; nil lets everything through again.
    package func setFilter(_ filter: EventFilter?) throws(Errno) {
        try events.setFilter(filter)
    }

    /// Reads all announcements that are there, without waiting. False when there were none: then every verdict that was
    /// asked for since the last ones is still the kernel's.
    package func drain(_ visit: (NetworkEvent) -> Void) throws(Errno) -> Bool {
        // An error says nothing about whether there was something.
        var wasQuiet = false
        defer { owesBarrier = owesBarrier || !wasQuiet }
        let heard = try events.drain { event in
            switch event {
            case .link(let index, let isGone): forget(index, isGone: isGone)
            case .overflow:
                links.removeAll(keepingCapacity: true)
                kinds.removeAll(keepingCapacity: true)
            case .route, .anything: break
            }
            visit(event)
        }
        wasQuiet = !heard
        return heard
    }

    /// Judges questions, as many in one system call as fit.
    ///
    /// - Parameters:
    ///   - questions: what to ask.
    ///   - deliver: takes each verdict with the place of its question, or the error by which the kernel could not tell,
    ///   in the order of the questions.
    /// - Throws: when the kernel could not be asked at all.
    package func judge(
        _ questions: ArraySlice<RouteQuestion>, _ deliver: (Int, Result<Verdict, Errno>) -> Void
    ) throws(Errno) {
        let now = clock.monotonic()
        var start = 0
        while start < questions.count {
            let count = min(questions.count - start, RequestSocket.batchLimit - 1)
            let first = questions.startIndex + start
            let batch = questions[first..<first + count]
            // Taken out while it is used, since a look for another next hop asks meanwhile.
            var answers = scratch
            scratch = []
            defer { scratch = answers }
            try ask(batch, into: &answers)
            try learnLinks(batch, answers)
            for place in 0..<count {
                let answer = answers[place]
                let question = batch[first + place]
                var result = verdict(question, answer, now)
                if case .success(let first) = result, let better = try otherHop(question, answer, first, now) {
                    result = .success(better)
                }
                deliver(start + place, result)
            }
            start += count
        }
    }

    /// Judges the internet at large by probes. A path by one of them is a path, whatever became of the others; "no
    /// path" takes an answer to each.
    package func judgeInternet(_ probes: [RouteQuestion]) throws(Errno) -> Verdict {
        var verdicts = [Verdict]()
        var failure: Errno?
        try judge(probes[...]) { _, result in
            switch result {
            case .success(let verdict): verdicts.append(verdict)
            case .failure(let error): failure = failure ?? error
            }
        }
        let verdict = FlagEvaluator.internetVerdict(verdicts)
        if let failure, !verdict.flags.isOnline { throw failure }
        return verdict
    }

    private func verdict(_ question: RouteQuestion, _ answer: RouteAnswer, _ now: UInt64) -> Result<Verdict, Errno> {
        let named = link(KernelView.linkToKnow(question, answer))
        do throws(Errno) {
            return .success(try FlagEvaluator.verdict(question, answer, link: named, now: now))
        } catch {
            return .failure(error)
        }
    }

    private func ask(_ questions: ArraySlice<RouteQuestion>, into answers: inout [RouteAnswer]) throws(Errno) {
        answers.removeAll(keepingCapacity: true)
        for _ in 0..<questions.count { answers.append(.failure(Errno.badMessage)) }
        let shift = owesBarrier ? 1 : 0
        let wanted = barrierLink
        var barrierAnswer: Link?
        var barrierError: Errno?
        try requests.exchange(count: questions.count + shift) { writer, place, sequence in
            if place < shift {
                writer.askLink(wanted, sequence: sequence)
            } else {
                writer.askRoute(questions[questions.startIndex + place - shift], listHops: false, sequence: sequence)
            }
        } read: { place, message in
            if place < shift {
                barrierAnswer = RouteRecords.link(message)
                barrierError = RouteRecords.error(message)
            } else if let answer = RouteRecords.routeAnswer(message) {
                answers[place - shift] = answer
            }
        }
        if let barrierError, barrierError.rawValue != ENODEV { throw barrierError }
        owesBarrier = false
        barrierLink = AddressLiteral.noLink
        if let barrierAnswer { try remember(barrierAnswer) }
    }

    // MARK: Several next hops

    /// When the link of an answer cannot be used, looks for another next hop of the same route that can: the kernel
    /// spreads flows over all of them, and one that works is enough.
    private func otherHop(
        _ question: RouteQuestion, _ answer: RouteAnswer, _ first: Verdict, _ now: UInt64
    ) throws(Errno) -> Verdict? {
        guard case .route(let route) = answer, question.link == 0, first.flags.rank < 2,
            let egress = link(route.link), !egress.isUsable
        else { return nil }
        var hops = [NextHop]()
        try requests.exchange(count: 1) { writer, _, sequence in
            writer.askRoute(question, listHops: true, sequence: sequence)
        } read: { _, message in
            hops = RouteRecords.nextHops(message)
        }
        var best: Verdict?
        for hop in hops.prefix(RequestSocket.batchLimit) where !hop.isDead && hop.link != route.link {
            let bound = RouteQuestion(destination: question.destination, source: question.source, link: hop.link)
            var answers = [RouteAnswer]()
            try ask([bound], into: &answers)
            try learnLinks([bound], answers)
            guard let answer = answers.first, case .success(let verdict) = verdict(bound, answer, now),
                verdict.flags.rank > (best ?? first).flags.rank
            else { continue }
            best = verdict
            if verdict.flags.rank == 2 { break }
        }
        return best
    }

    // MARK: Links

    private func link(_ index: UInt32) -> Link? {
        let place = KernelView.place(of: index, in: links)
        return place < links.count && links[place].index == index ? links[place] : nil
    }

    /// The link that an answer names; for a refusal the one that the question was bound to, which may be why.
    private static func linkToKnow(_ question: RouteQuestion, _ answer: RouteAnswer) -> UInt32 {
        switch answer {
        case .route(let route): return route.link
        case .failure: return question.link
        }
    }

    /// Asks for the links that matter to answers and are not known. A link that does not exist stays unknown.
    private func learnLinks(_ questions: ArraySlice<RouteQuestion>, _ answers: [RouteAnswer]) throws(Errno) {
        var unknown = [UInt32]()
        for (question, answer) in zip(questions, answers) {
            let index = KernelView.linkToKnow(question, answer)
            // The kernel counts links with positive numbers; a caller's scope id may be any number.
            let isPossible = index != 0 && index <= UInt32(Int32.max)
            if isPossible, link(index) == nil, !unknown.contains(index) { unknown.append(index) }
        }
        guard !unknown.isEmpty else { return }
        var found = [Link]()
        var failure: Errno?
        try requests.exchange(count: unknown.count) { writer, place, sequence in
            writer.askLink(unknown[place], sequence: sequence)
        } read: { _, message in
            if let link = RouteRecords.link(message) { found.append(link) }
            if let error = RouteRecords.error(message), error.rawValue != ENODEV { failure = error }
        }
        if let failure { throw failure }
        for link in found { try remember(link) }
    }

    private func remember(_ link: Link) throws(Errno) {
        var link = link
        link.kind = try kind(of: link)
        KernelView.insert(link, into: &links)
    }

    private func kind(of link: Link) throws(Errno) -> LinkKind {
        if let kind = LinkClassifier.kindByType(link) { return kind }
        let place = KernelView.place(of: link.index, in: kinds)
        if place < kinds.count, kinds[place].index == link.index, kinds[place].name == link.name {
            return kinds[place].kind
        }
        var classified = link
        classified.kind = try LinkClassifier.kindByDevice(link, requests)
        KernelView.insert(classified, into: &kinds)
        return classified.kind
    }

    private func forget(_ index: UInt32, isGone: Bool) {
        if isGone { KernelView.remove(index, from: &kinds) }
        if KernelView.remove(index, from: &links) { barrierLink = index }
    }

    private static func place(of index: UInt32, in links: [Link]) -> Int {
        var low = 0
        var high = links.count
        while low < high {
            let middle = (low + high) / 2
            if links[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func insert(_ link: Link, into links: inout [Link]) {
        let place = place(of: link.index, in: links)
        if place < links.count, links[place].index == link.index {
            links[place] = link
        } else {
            links.insert(link, at: place)
        }
    }

    @discardableResult
    private static func remove(_ index: UInt32, from links: inout [Link]) -> Bool {
        let place = place(of: index, in: links)
        guard place < links.count, links[place].index == index else { return false }
        links.remove(at: place)
        return true
    }
}
