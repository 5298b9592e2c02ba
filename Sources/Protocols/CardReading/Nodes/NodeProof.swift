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
    private let spotChecks: SpotChecks
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
    /// Whether it was asked if the list ends behind the confirmed nodes.
    private var hasTriedEnd = false
    private var isContradicted = false
    private var questions = 0
    /// The time on air of the questions so far.
    private var spent = AirTime.zero
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
    /// The indexes of an unknown system that are walked first, while a layout fits and while none does. A list that ends
    /// there is not worth a prediction.
    private static let beginning = 4, smallList = 8

    /// - Parameters:
    ///   - nodesPerRequest: how many nodes one Request Service can name.
    ///   - hasSearched: whether the card is known to answer Search Service Code.
    ///   - spotChecks: the searches at random places that the card still gets.
    /// - Returns: `nil` if there is nothing to predict from.
    init?(
        _ candidates: LayoutCandidates, nodesPerRequest: Int, hasSearched: Bool = true,
        spotChecks: SpotChecks = SpotChecks()
    ) {
        guard !candidates.all.isEmpty else { return nil }
        self.candidates = candidates
        self.nodesPerRequest = max(1, nodesPerRequest)
        self.spotChecks = spotChecks
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
        spent += .search
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
        self.requested.formUnion(requested)
        spent += .request(requested.count, upTo: nodesPerRequest)
        for code in present where code != 0xFFFF { count(code) }
        // A card that confirms nothing is not worth another command.
        let isNew = requested.contains { code in code != 0xFFFF && !places.contains { $0.code == code } }
        if !isAnswered || isNew && codes.count == places.count { supplements = NodeProof.mostSupplements }
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
            if let end = best?.count, end < ceiling ?? .max, isUnsearched(end) { return .search(end) }
        }
        if case .confirming = phase {
            guard isWorthwhile else { return .walk }
            phase = .closing
            return .confirm(prediction)
        }
        return closing() ?? spotCheck() ?? .proved
    }

    /// How many indexes are walked first: one if the system is known, to see whether the card has the search.
    private var beginningLength: Int {
        guard !candidates.isOfSystem else { return 1 }
        return fitting.isEmpty ? NodeProof.smallList : NodeProof.beginning
    }

    /// Whether a proof is expected to take less time than asking for the indexes that are left.
    ///
    /// Both ask for the key versions of all nodes. If no layout fits, a third of the predicted nodes are expected to be there,
    /// and the others are found by a search each.
    private var isWorthwhile: Bool {
        guard let best else { return false }
        let isFound = fits(best)
        if !isFound, let ceiling, ceiling <= NodeProof.smallList { return false }
        let length = isFound ? best.count : ceiling ?? max(best.count, places.count)
        let left = (1...max(1, length)).count { isUnsearched($0) && $0 != ceiling }
        guard isFound else {
            let wasted = AirTime.request(prediction.count * 2 / 3, upTo: nodesPerRequest)
            return wasted + .search * (left * 2 / 3 + 1) < .search * left
        }
        var asked = Set(best.codes.indices.dropFirst().filter { best.codes[$0].isArea })
        asked.formUnion([length - 1, length])
        return asked.count { $0 > 0 && isUnsearched($0) && $0 != ceiling } < left
    }

    /// Returns a search at a random place among those that were not searched, while the card has some left and a walk would
    /// have taken longer: there the card may list another node than the one that it confirmed.
    private mutating func spotCheck() -> Step? {
        guard let ceiling else { return nil }
        let unsearched = (1..<max(1, ceiling)).filter(isUnsearched)
        let left = checksLeft ?? spotChecks.share(of: unsearched.count)
        let walk = AirTime.search * ceiling + .request(ceiling + 1, upTo: nodesPerRequest)
        guard left > 0, spent + .search <= walk, let index = spotChecks.place(in: unsearched) else { return nil }
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

    /// The nodes to confirm: the system, those of the best layout and the searched ones; if no layout fits, also as many of
    /// other layouts as the last command has room for.
    private var prediction: [UInt16] {
        var prediction: [UInt16] = [0xFFFF]
        var named = Set(prediction)
        func add(_ codes: some Sequence<UInt16>, upTo limit: Int = .max) {
            for code in codes where prediction.count < limit && named.insert(code).inserted { prediction.append(code) }
        }
        let isFound = !fitting.isEmpty
        guard let best else { return prediction }
        add(best.codes)
        add(places.map(\.code))
        guard !isFound else { return prediction }
        let room = (prediction.count + nodesPerRequest - 1) / nodesPerRequest * nodesPerRequest
        for other in candidates.all.map({ ($0, $0.difference(from: best)) }).sorted(by: { $0.1 < $1.1 }) {
            add(other.0.codes, upTo: room)
        }
        return prediction
    }

    /// Returns the nodes that layouts have in a gap and that were not requested yet, at most one command; `nil` for none.
    private func supplement(for gap: Gap) -> [UInt16]? {
        var layoutsByCode: [UInt16: Int] = [:]
        for code in candidates.all.lazy.flatMap(\.codes)
        where code > gap.lower.code && code < gap.upper?.code ?? .max && !requested.contains(code) {
            layoutsByCode[code, default: 0] += 1
        }
        // The command may take as long as the searches that it can save.
        let most = AirTime.codes(within: .search * gap.missing)
        let likely = layoutsByCode.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(min(most, nodesPerRequest))
        return likely.isEmpty ? nil : likely.map(\.key).sorted()
    }
}

/// The time that a question and its answer take on air at 212 kbit/s, in bytes of the frames.
struct AirTime: Comparable {
    private var bytes: Int

    static let zero = AirTime(bytes: 0)
    /// Search Service Code: 12 bytes, and 12 to 14 in the answer.
    static let search = AirTime(bytes: 26 + 2 * frame)
    /// Preamble, synchronization code and checksum of a frame.
    private static let frame = 10
    /// What a command and its answer have besides the codes.
    private static let requestHead = 22 + 2 * frame
    /// A code and its version.
    private static let code = 4

    private init(bytes: Int) { self.bytes = bytes }

    /// Request Service for so many nodes, in commands of at most `limit`.
    static func request(_ count: Int, upTo limit: Int) -> AirTime {
        AirTime(bytes: (count + limit - 1) / max(1, limit) * requestHead + count * code)
    }

    /// How many nodes a command can name in this time.
    static func codes(within time: AirTime) -> Int { max(0, time.bytes - requestHead) / code }

    static func < (left: AirTime, right: AirTime) -> Bool { left.bytes < right.bytes }
    static func + (left: AirTime, right: AirTime) -> AirTime { AirTime(bytes: left.bytes + right.bytes) }
    static func += (left: inout AirTime, right: AirTime) { left = left + right }
    static func * (time: AirTime, count: Int) -> AirTime { AirTime(bytes: time.bytes * count) }
}

/// The searches at random places that a card gets after its lists are proved, shared by its systems.
final class SpotChecks {
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
