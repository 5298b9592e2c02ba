// SPDX-License-Identifier: Apache-2.0

/// Finds all nodes of a system by a prediction that the card confirms, with fewer questions than nodes.
///
/// A node counts if Search Service Code returned it or Request Service gave its key version. If Search Service Code
/// returns nothing at index *e* and *e* nodes count, there are no others; an area counts with the end that the search
/// gave. The prediction decides which questions are asked and never what is found. `Docs/proved-scan.md` has the
/// argument, its two assumptions, and what happens where they fail.
///
/// This is only the reasoning: its user sends each ``next()`` to the card and reports the answer.
struct NodeProof {
    /// What to do next.
    enum Step: Hashable {
        /// Search Service Code with this index, which was not searched before.
        case search(Int)
        /// Request Service with these nodes.
        case confirm([UInt16])
        /// ``nodes`` are all nodes of the system.
        case proved
        /// Index by index: the answers are not those of an ascending list, or a proof is not expected to take less time.
        case walk
    }

    /// A node, with the last code of an area.
    struct Node: Hashable {
        var code: UInt16
        var end: UInt16?
    }

    private let candidates: LayoutCandidates
    private let nodesPerRequest: Int
    private let budget: ProofBudget
    private var phase: Phase
    /// The searched nodes by index, ascending. The root area is at index 0 of every system and is not asked for.
    private var places = [Place(index: 0, code: 0)]
    private var ends: [UInt16: UInt16] = [0: 0xFFFE]
    /// The lowest index at which nothing was found.
    private var ceiling: Int?
    /// All codes that count, ascending.
    private var codes: [UInt16] = [0]
    private var requested: Set<UInt16> = []
    private var supplements = 0
    /// Whether a request was left unanswered: another one may be, too, and costs most.
    private var isMute = false
    /// Whether it was asked if the list ends behind the confirmed nodes.
    private var hasTriedEnd = false
    private var isContradicted = false
    private var questions = 0
    /// How long its questions take; it may become better known.
    var time: ExchangeTime
    /// Whether it goes on although a walk is expected to take less time.
    private let isForced: Bool
    /// The time of the questions so far.
    private var spent = Duration.zero
    /// How many nodes were requested that no search had returned, and how many of them exist.
    private var tried = 0, hits = 0
    /// How many searches at random places this system still gets; `nil` until all nodes are known.
    private var checksLeft: Int?

    private struct Place {
        var index: Int
        var code: UInt16
    }

    private enum Phase {
        /// Walking the first indexes: this is all of a small system, and shows whether the card has the search.
        case beginning
        /// Searching for what tells apart the layouts that still fit.
        case choosing(searches: Int)
        /// About to confirm the nodes of the best layout.
        case confirming
        /// Closing the gaps between the searched nodes.
        case closing
    }

    /// After so many questions about one system, asking index by index is as good.
    private static let mostQuestions = 1024
    /// The searches that may be spent on telling layouts apart, and the commands on nodes of other layouts.
    private static let mostChoices = 4, mostSupplements = 2
    /// How many nodes are requested first if nothing shows yet that the prediction is right.
    private static let sample = 8
    /// The indexes of an unknown system that are walked first, while a layout fits and while none does. A list that ends
    /// there is not worth a prediction.
    private static let beginning = 4, smallList = 8

    /// - Parameters:
    ///   - nodesPerRequest: how many nodes one Request Service can name.
    ///   - time: how long its questions take.
    ///   - hasSearched: whether the card is known to answer Search Service Code.
    ///   - budget: what the proofs of the card may still cost.
    ///   - isForced: whether to prove although a walk is expected to take less time.
    /// - Returns: `nil` if there is nothing to predict from.
    init?(
        _ candidates: LayoutCandidates, nodesPerRequest: Int, time: ExchangeTime, hasSearched: Bool = true,
        budget: ProofBudget = ProofBudget(), isForced: Bool = false
    ) {
        guard !candidates.all.isEmpty else { return nil }
        self.isForced = isForced
        self.candidates = candidates
        self.nodesPerRequest = max(1, nodesPerRequest)
        self.time = time
        self.budget = budget
        phase = candidates.isOfSystem && hasSearched ? .choosing(searches: 0) : .beginning
    }

    /// How many nodes the card itself listed; the others were only confirmed.
    var searchedNodes: Int { places.count }

    /// The nodes found so far, ascending by code: all of them after ``Step/proved``. An area whose end is unknown is left
    /// out.
    var nodes: [Node] {
        codes.compactMap { code in
            guard code.isArea else { return Node(code: code) }
            return ends[code].map { Node(code: code, end: $0) }
        }
    }

    // MARK: Answers

    /// Takes the answer to a search: the node at the index, or `nil` if there is none.
    mutating func searched(_ index: Int, _ node: Node?) {
        spent += time.search
        // A walk searches one place without a node.
        if node == nil, ceiling != nil { budget.wasted += time.search }
        if let node {
            places.insert(
                Place(index: index, code: node.code), at: places.firstIndex { $0.index > index } ?? places.endIndex)
            if node.code.isArea != (node.end != nil) { isContradicted = true }
            ends[node.code] = node.end
            count(node.code)
        } else {
            ceiling = min(ceiling ?? index, index)
        }
        check()
    }

    /// Takes the answer to a request: those of the nodes that the card has. Nothing follows for the others.
    ///
    /// - Parameter isAnswered: whether no command of it was left unanswered.
    mutating func confirmed(_ present: [UInt16], of requested: [UInt16], isAnswered: Bool) {
        let isFirst = self.requested.isEmpty
        self.requested.formUnion(requested)
        spent += time.request(requested.count, upTo: nodesPerRequest)
        budget.wasted += time.node * (requested.count - present.count)
        // The other versions need as many commands as in a walk.
        if isFirst, requested.count < nodesPerRequest { budget.wasted += time.command }
        let unknown = requested.filter { $0 != 0xFFFF && !codes.contains($0) }
        for code in present where code != 0xFFFF { count(code) }
        tried += unknown.count
        hits += unknown.count { codes.contains($0) }
        // A card that confirms nothing is not worth another command.
        let isNew = requested.contains { code in code != 0xFFFF && !places.contains { $0.code == code } }
        if !isAnswered { isMute = true }
        if isMute || isNew && codes.count == places.count { supplements = NodeProof.mostSupplements }
        check()
    }

    private mutating func count(_ code: UInt16) {
        let place = codes.position(of: code)
        if place == codes.endIndex || codes[place] != code { codes.insert(code, at: place) }
    }

    /// Notices codes that do not ascend and more nodes than places.
    private mutating func check() {
        let ascend = zip(places, places.dropFirst()).allSatisfy { $0.code < $1.code }
        let end = ceiling ?? .max
        guard ascend, places.allSatisfy({ $0.index < end }), gaps.allSatisfy({ $0.missing >= 0 }) else {
            isContradicted = true
            return
        }
    }

    // MARK: Gaps

    /// The places between two searched nodes, or behind the last one.
    private struct Gap {
        /// The searched node before it.
        var lower: Place
        /// The searched node after it; `nil` behind the last one.
        var upper: Place?
        /// The index behind its last place; `nil` if that is unknown.
        var end: Int?
        /// The nodes in it that count.
        var codes: ArraySlice<UInt16>

        /// How many of its places have no node that counts; 0 if unknown.
        var missing: Int { end.map { $0 - next } ?? 0 }

        /// The index behind the nodes that count if none is missing.
        var next: Int { lower.index + 1 + codes.count }
    }

    /// The gaps in ascending order, if the codes of ``places`` ascend.
    private var gaps: [Gap] {
        places.indices.map { number in
            let (lower, upper) = (places[number], number + 1 < places.count ? places[number + 1] : nil)
            let start = codes.position(of: lower.code) + 1
            let stop = upper.map { codes.position(of: $0.code) } ?? codes.count
            return Gap(lower: lower, upper: upper, end: upper?.index ?? ceiling, codes: codes[start..<max(start, stop)])
        }
    }

    // MARK: Questions

    /// Returns the next question, or the result.
    mutating func next() -> Step {
        questions += 1
        guard !isContradicted, questions <= NodeProof.mostQuestions else { return .walk }
        if case .beginning = phase {
            guard ceiling == nil else { return .walk }
            if places.count <= beginningLength { return .search(places.count) }
            phase = .choosing(searches: 0)
        }
        if case .choosing(let searches) = phase {
            if searches < NodeProof.mostChoices, let index = distinguishingIndex {
                phase = .choosing(searches: searches + 1)
                return .search(index)
            }
            guard isWorthwhile else { return .walk }
            phase = .confirming
            if candidates.isOfSystem, let best, fits(best), best.count < ceiling ?? .max, isUnsearched(best.count) {
                return .search(best.count)
            }
        }
        if case .confirming = phase {
            if let codes = nextNodes { return .confirm(codes) }
            guard !requested.isEmpty else { return .walk }
            // What is confirmed needs no search, however little that is.
            phase = .closing
        }
        return closing() ?? spotCheck() ?? .proved
    }

    /// How many indexes are walked first: one if the system is known, to see whether the card has the search.
    private var beginningLength: Int {
        guard !candidates.isOfSystem else { return 1 }
        return fitting.isEmpty ? NodeProof.smallList : NodeProof.beginning
    }

    /// The nodes to request next: few while little shows that the prediction is right, and then as many as what they have
    /// saved so far allows to lose; `nil` if no more are worth it.
    private var nextNodes: [UInt16]? {
        let left = prediction.filter { !requested.contains($0) }
        guard !isMute, !left.isEmpty, let best, isWorthwhile else { return nil }
        let isLikely = candidates.isOfSystem && fits(best) && (best.count == ceiling || places.count > 2)
        guard !isLikely else { return Array(left.prefix(nodesPerRequest)) }
        let open = left.filter { $0 != 0xFFFF && !codes.contains($0) }
        let most = min(Int(allowed / time.node), requested.isEmpty ? NodeProof.sample : .max)
        let number = min(most, nodesPerRequest, open.count)
        guard number >= min(NodeProof.sample / 2, open.count), number > 0 else { return nil }
        return (0..<number).map { open[$0 * open.count / number] }
    }

    /// What another command may lose: no more than what the budget has left and half of what the nodes confirmed so far may save.
    private var allowed: Duration {
        max(.zero, ProofBudget.most * time.scale + time.search * hits / 2 - budget.wasted - time.command)
    }

    /// Whether a proof is expected to take less time than asking for the indexes that are left.
    ///
    /// Both ask for the key versions of all nodes. Of the predicted nodes the share is expected to exist that the answers so
    /// far have shown; before them, most if a layout fits, and a third if none does. The others cost their part of a command.
    private var isWorthwhile: Bool {
        guard let best else { return false }
        if isForced { return true }
        let isFound = fits(best)
        if !isFound, let ceiling, ceiling <= NodeProof.smallList { return false }
        let length = isFound ? best.count : ceiling ?? max(best.count, places.count)
        let left = (1...max(1, length)).count { isUnsearched($0) && $0 != ceiling }
        // What has to be searched even if everything is as predicted: areas, the last node and the end.
        var asked = Set(best.codes.indices.dropFirst().filter { best.codes[$0].isArea })
        asked.formUnion([length - 1, length])
        let searches = asked.count { $0 > 0 && isUnsearched($0) && $0 != ceiling }
        guard searches < left else { return false }
        let open = prediction.count { $0 != 0xFFFF && !requested.contains($0) && !codes.contains($0) }
        let listed = places.dropFirst()
        let likely = hits + listed.count { best.contains($0.code) } + (isFound ? 3 : 1)
        let of = tried + listed.count + (isFound ? 4 : 3)
        let saved = time.search * min(left - searches, codes.count - places.count + open * likely / of)
        return time.node * (open * (of - likely) / of) < saved
    }

    /// Returns a search at a random place among those that were not searched, while the card has some left and a walk would
    /// have taken longer: there the card may list another node than the one that it confirmed.
    private mutating func spotCheck() -> Step? {
        guard let ceiling else { return nil }
        let unsearched = (1..<max(1, ceiling)).filter(isUnsearched)
        let left = checksLeft ?? budget.share(of: unsearched.count)
        let walk = time.search * ceiling + time.request(ceiling + 1, upTo: nodesPerRequest)
        guard left > 0, spent + time.search <= walk, let index = budget.place(in: unsearched) else { return nil }
        checksLeft = left - 1
        return .search(index)
    }

    /// The places that a recording may have searched instead of the one that was drawn.
    var otherSpots: [Int] { checksLeft == nil ? [] : (1..<max(1, ceiling ?? 1)).filter(isUnsearched) }

    /// A recording has no further searches at random places.
    mutating func endSpotChecks() { checksLeft = 0 }

    /// Returns the question for the end of the list, the end of an area or a missing node; `nil` if all are known.
    private mutating func closing() -> Step? {
        let gaps = gaps
        let isOpen = gaps.last.map { $0.next < $0.end ?? .max } ?? false
        if let last = gaps.last, isOpen, !hasTriedEnd {
            hasTriedEnd = true
            return .search(last.next)
        }
        if supplements < NodeProof.mostSupplements,
            let codes = gaps.lazy.filter({ $0.missing > 1 }).compactMap(supplement).first
        {
            supplements += 1
            return .confirm(codes)
        }
        if let last = gaps.last, isOpen { return .search(last.next) }
        // A list that is shorter has a node too many.
        if let ceiling, isUnsearched(ceiling - 1) { return .search(ceiling - 1) }
        for gap in gaps {
            if let area = gap.codes.firstIndex(where: { $0.isArea && ends[$0] == nil }) {
                return .search(gap.lower.index + 1 + area - gap.codes.startIndex)
            }
        }
        let open = gaps.filter { $0.missing > 0 }.min { $0.missing + $0.codes.count < $1.missing + $1.codes.count }
        return open.map { .search(($0.lower.index + ($0.end ?? 0)) / 2) }
    }

    private func isUnsearched(_ index: Int) -> Bool { !places.contains { $0.index == index } }

    // MARK: Prediction

    private func fits(_ layout: CardLayout) -> Bool {
        layout.count <= ceiling ?? .max && places.allSatisfy { layout.code(at: $0.index) == $0.code }
    }

    /// The layouts that fit what was searched: the likely ones, else all.
    private var fitting: [CardLayout] {
        let similar = candidates.similar.filter(fits)
        return similar.isEmpty ? candidates.all.filter(fits) : similar
    }

    /// A layout that fits, else the one that lacks fewest of the searched nodes.
    private var best: CardLayout? { fitting.first ?? nearest.first }

    /// All layouts, those first that lack fewest of the searched nodes.
    private var nearest: [CardLayout] {
        let distances = candidates.all.map { layout in
            (
                layout, lacking: places.count { !layout.contains($0.code) },
                length: abs(layout.count - (ceiling ?? layout.count))
            )
        }
        return distances.sorted { ($0.lacking, $0.length) < ($1.lacking, $1.length) }.map(\.0)
    }

    /// The index whose node says most about which layout fits; `nil` if one is left, or none.
    private var distinguishingIndex: Int? {
        let layouts = fitting
        guard let first = layouts.first else { return nil }
        // The area has to be searched in any case, and where every list has a node, silence means one thing.
        if places.count == 1, ceiling == nil, first.code(at: 1)?.isArea ?? false { return 1 }
        let longest = min(layouts.map(\.count).max() ?? 0, (ceiling ?? .max) - 1)
        guard layouts.count > 1, longest > 0 else { return nil }
        var best: (index: Int, cost: Int)?
        for index in 1...longest where isUnsearched(index) {
            var layoutsByCode: [UInt16?: Int] = [:]
            // A search for an area or the end is not in addition.
            var additional = 0
            for layout in layouts {
                let code = layout.code(at: index)
                layoutsByCode[code, default: 0] += 1
                if !(code?.isArea ?? (index == layout.count)) { additional += 1 }
            }
            let cost = layoutsByCode.values.reduce(additional) { $0 + $1 * $1 }
            if layoutsByCode.count > 1, cost < best?.cost ?? .max { best = (index, cost) }
        }
        return best?.index
    }

    /// The nodes to confirm: the system, those of the best layout and the searched ones.
    private var prediction: [UInt16] {
        var prediction: [UInt16] = [0xFFFF]
        var named = Set(prediction)
        func add(_ codes: some Sequence<UInt16>) {
            for code in codes where named.insert(code).inserted { prediction.append(code) }
        }
        guard let best else { return prediction }
        add(best.codes)
        add(places.map(\.code))
        return prediction
    }

    /// Returns the nodes that layouts have in a gap and that were not requested yet, at most one command; `nil` for none.
    private func supplement(for gap: Gap) -> [UInt16]? {
        var layoutsByCode: [UInt16: Int] = [:]
        for code in candidates.all.lazy.flatMap(\.codes)
        where code > gap.lower.code && code < gap.upper?.code ?? .max && !requested.contains(code) {
            layoutsByCode[code, default: 0] += 1
        }
        // The command may take as long as the searches that it can save, and waste no more than is left for that.
        let most = min(
            time.nodes(within: time.search * gap.missing), Int(allowed / time.node)
        )
        let likely = layoutsByCode.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(min(most, nodesPerRequest))
        return likely.isEmpty ? nil : likely.map(\.key).sorted()
    }
}

/// What the proofs of a card may cost, shared by its systems: the searches at random places that it gets after its lists are
/// proved, and the time that is lost where it differs from the predictions.
final class ProofBudget {
    /// How much may be lost before the systems are walked, on a card that takes the expected time; more on a slower one.
    static let most = Duration.milliseconds(3)
    /// The time of what a walk does not ask: nodes that the card does not have, and places behind its last node.
    var wasted = Duration.zero
    /// A Suica of three systems is proved in 29 exchanges; with these, in 34.
    private var left = 5
    /// A system gets one for so many nodes that only Request Service reported.
    private static let nodesPerCheck = 12
    private var random: any RandomNumberGenerator
    /// Whether a system of the card answered Search Service Code.
    var cardSearches = false

    init(_ random: some RandomNumberGenerator = SystemRandomNumberGenerator()) { self.random = random }

    /// How many a system gets.
    func share(of unsearched: Int) -> Int {
        min(left, (unsearched + Self.nodesPerCheck - 1) / Self.nodesPerCheck)
    }

    /// Draws one of the places.
    func place(in unsearched: [Int]) -> Int? {
        guard left > 0, let place = unsearched.randomElement(using: &random) else { return nil }
        left -= 1
        return place
    }
}
