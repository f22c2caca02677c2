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
    /// What the rules look at, and the addresses that packets may come from; nil when that is to be asked for.
    private var policy: Policy?
    private var sources: [IPAddress]?
    /// For whom is asked, where rules tell users apart.
    private var user: UInt32?
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
                forgetLists()
            case .anything: forgetLists()
            case .route: break
            }
            visit(event)
        }
        wasQuiet = !heard
        return heard
    }

    /// A question about which the kernel could not tell.
    package struct Failure {
        package let place: Int
        package let error: Errno
    }

    /// Judges questions, as many in one system call as fit.
    ///
    /// - Parameters:
    ///   - questions: what to ask.
    ///   - verdicts: gets one for each question, in their order.
    ///   - failures: gets those about which the kernel could not tell; their verdicts say nothing.
    /// - Throws: when the kernel could not be asked at all.
    package func judge(
        _ questions: ArraySlice<RouteQuestion>, into verdicts: inout [Verdict], failures: inout [Failure]
    ) throws(Errno) {
        let now = clock.monotonic()
        var start = questions.startIndex
        while start < questions.endIndex {
            let end = min(start + RequestSocket.batchLimit - 1, questions.endIndex)
            // Taken out while it is used, since a look for another next hop asks meanwhile.
            var answers = scratch
            scratch = []
            defer { scratch = answers }
            try askWell(questions[start..<end], into: &answers)
            for (answer, question) in zip(answers, questions[start..<end]) {
                do throws(Errno) {
                    var verdict = try verdict(question, answer, now)
                    if verdict.flags.rank < 2 { try improve(&verdict, question, answer, now) }
                    verdicts.append(verdict)
                } catch {
                    failures.append(Failure(place: verdicts.count, error: error))
                    verdicts.append(Verdict())
                }
            }
            start = end
        }
    }

    /// Judges the internet at large by probes. A path by one of them is a path, whatever became of the others; "no
    /// path" takes an answer to each.
    package func judgeInternet(_ probes: [RouteQuestion]) throws(Errno) -> Verdict {
        var verdicts = [Verdict]()
        var failures = [Failure]()
        try judge(probes[...], into: &verdicts, failures: &failures)
        let verdict = FlagEvaluator.internetVerdict(verdicts)
        if let failure = failures.first, !verdict.flags.isOnline { throw failure.error }
        return verdict
    }

    private func verdict(_ question: RouteQuestion, _ answer: RouteAnswer, _ now: UInt64) throws(Errno) -> Verdict {
        let named = link(KernelView.linkToKnow(question, answer))
        return try FlagEvaluator.verdict(question, answer, link: named, now: now)
    }

    /// What is not the best answer may not be the kernel's last word.
    private func improve(
        _ verdict: inout Verdict, _ question: RouteQuestion, _ answer: RouteAnswer, _ now: UInt64
    ) throws(Errno) {
        if case .route(let route) = answer, Int(route.type) == Int(RTN_UNICAST) {
            guard question.link == 0, let egress = link(route.link), !egress.isUsable else { return }
            try takeOtherHop(&verdict, question, route, now)
        } else {
            try takeOtherSource(&verdict, question, now)
        }
    }

    private func takeIfBetter(
        _ verdict: inout Verdict, _ question: RouteQuestion, _ answer: RouteAnswer, _ now: UInt64
    ) {
        // One that cannot be told about is no better.
        guard let found = try? self.verdict(question, answer, now), found.flags.rank > verdict.flags.rank
        else { return }
        verdict = found
    }

    /// When the link of an answer cannot be used, another next hop of the same route may: the kernel spreads flows over
    /// all of them, and one that works is enough.
    private func takeOtherHop(
        _ verdict: inout Verdict, _ question: RouteQuestion, _ route: Route, _ now: UInt64
    ) throws(Errno) {
        var hops = [Route]()
        try requests.exchange(count: 1) { writer, _, sequence in
            writer.askRoute(question, asEntry: true, user: user, sequence: sequence)
        } read: { _, message in
            hops = RouteRecords.nextHops(message)
        }
        var bound = [RouteQuestion]()
        for hop in hops.prefix(RequestSocket.batchLimit - 1) {
            bound.append(RouteQuestion(destination: question.destination, source: question.source, link: hop.link))
        }
        guard !bound.isEmpty else { return }
        // Asked for only to see which source a packet would have: rules for a link are not for packets of no link, and
        // over IPv4 the kernel takes any address for a neighbour on a link that has no route to it.
        var answers = [RouteAnswer]()
        try askWell(bound[...], into: &answers)
        for (place, answer) in answers.enumerated() {
            var way = hops[place]
            way.source = route.source
            if case .route(let asked) = answer, asked.hasGateway == way.hasGateway { way.source = asked.source }
            takeIfBetter(&verdict, question, .route(way), now)
        }
    }

    /// When IPv6 has no way for packets of whatever source, the kernel chooses a source and tries again, and so finds
    /// the ways that are only for some: where every provider has addresses of its own, there may be no others.
    private func takeOtherSource(
        _ verdict: inout Verdict, _ question: RouteQuestion, _ now: UInt64
    ) throws(Errno) {
        guard question.source == nil, question.destination.isGlobalScopeV6 else { return }
        var best: IPAddress?
        for source in try globalSources()
        where best.map({ question.destination.prefers(source, to: $0) }) ?? true { best = source }
        guard let best else { return }
        let bound = RouteQuestion(destination: question.destination, source: best, link: question.link)
        var answers = [RouteAnswer]()
        try askWell([bound], into: &answers)
        if let answer = answers.first { takeIfBetter(&verdict, bound, answer, now) }
    }

    /// Asks, and learns all that it takes to judge the answers.
    private func askWell(
        _ questions: ArraySlice<RouteQuestion>, into answers: inout [RouteAnswer]
    ) throws(Errno) {
        let policy = try knownPolicy()
        try ask(questions, into: &answers)
        if policy.looksAtSource { try askAgainWithSource(questions, &answers) }
        try learnLinks(questions, answers)
        try learnLifetimes(questions, &answers)
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
                writer.askRoute(
                    questions[questions.startIndex + place - shift], asEntry: false, user: user, sequence: sequence)
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

    /// Asks how long the routes last that packets would take. The kernel says so only of the entry in its table, not of
    /// the way of one packet, and only IPv6 has routes that go by themselves.
    private func learnLifetimes(
        _ questions: ArraySlice<RouteQuestion>, _ answers: inout [RouteAnswer]
    ) throws(Errno) {
        var places = [Int]()
        for place in 0..<questions.count {
            let question = questions[questions.startIndex + place]
            guard question.destination.family == .v6, case .route(let route) = answers[place],
                Int(route.type) == Int(RTN_UNICAST)
            else { continue }
            places.append(place)
        }
        guard !places.isEmpty else { return }
        try requests.exchange(count: places.count) { writer, number, sequence in
            let question = questions[questions.startIndex + places[number]]
            writer.askRoute(question, asEntry: true, user: user, sequence: sequence)
        } read: { number, message in
            let place = places[number]
            // Without an answer the entry has just gone, which is announced.
            guard case .route(var route) = answers[place], case .route(let entry) = RouteRecords.routeAnswer(message)
            else { return }
            route.lifetime = entry.lifetime
            answers[place] = .route(route)
        }
    }

    // MARK: Rules and sources

    /// What the rules look at. A socket is judged by them more often than a question: see below.
    private struct Policy {
        var looksAtSource = false
        var looksAtUser = false
    }

    private func forgetLists() {
        policy = nil
        sources = nil
    }

    private func knownPolicy() throws(Errno) -> Policy {
        if let policy {
            if policy.looksAtUser { user = geteuid() }
            return policy
        }
        var found = Policy()
        try requests.list(Int(RTM_GETRULE), family: AF_UNSPEC) { message in
            guard let rule = RouteRecords.rule(message) else { return }
            found.looksAtSource = found.looksAtSource || (rule.isV4 && rule.looksAtSource)
            found.looksAtUser = found.looksAtUser || rule.looksAtUser
        }
        policy = found
        user = found.looksAtUser ? geteuid() : nil
        return found
    }

    /// Whether rules tell users apart, and this process may be another one's by now without anything being announced.
    package var dependsOnUser: Bool { user != nil }

    /// Whether that has happened since the last question.
    package var hasUserChanged: Bool { user != nil && user != geteuid() }

    /// A connection over IPv4 takes its source from the way it would go, and then asks for the way again with it.
    private func askAgainWithSource(
        _ questions: ArraySlice<RouteQuestion>, _ answers: inout [RouteAnswer]
    ) throws(Errno) {
        var places = [Int]()
        var bound = [RouteQuestion]()
        for place in 0..<questions.count {
            let question = questions[questions.startIndex + place]
            guard question.destination.family == .v4, question.source == nil, case .route(let route) = answers[place],
                Int(route.type) == Int(RTN_UNICAST), let source = route.source
            else { continue }
            places.append(place)
            bound.append(RouteQuestion(destination: question.destination, source: source, link: question.link))
        }
        guard !places.isEmpty else { return }
        var second = [RouteAnswer]()
        try ask(bound[...], into: &second)
        for (number, place) in places.enumerated() {
            answers[place] = second[number]
            if case .route(var route) = second[number], route.source == nil {
                route.source = bound[number].source
                answers[place] = .route(route)
            }
        }
    }

    /// This machine's IPv6 addresses from which packets may go anywhere. Deprecated ones only where there are no
    /// others.
    private func globalSources() throws(Errno) -> [IPAddress] {
        if let sources { return sources }
        var preferred = [IPAddress]()
        var deprecated = [IPAddress]()
        try requests.list(Int(RTM_GETADDR), family: AF_INET6) { message in
            guard let (address, isDeprecated) = RouteRecords.globalAddress(message), address.family == .v6
            else { return }
            if isDeprecated { deprecated.append(address) } else { preferred.append(address) }
        }
        let found = preferred.isEmpty ? deprecated : preferred
        sources = found
        return found
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
