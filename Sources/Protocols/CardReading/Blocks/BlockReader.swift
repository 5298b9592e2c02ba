// SPDX-License-Identifier: Apache-2.0

package import CardModel
public import FeliCa

/// Reads blocks of services of one system in as few commands as the card and the reader allow.
///
/// No ordinary card reports how many blocks a service has. Services of a usual size are fetched together, several per
/// command, and a single command for the block after the last proves the end. Services of unknown size are tried with
/// as many blocks as fit, and the position of the error gives their size. If reading ends early, what was read stays in
/// ``jobs``.
final class BlockReader {
    private(set) var jobs: [ServiceJob]
    private let session: CardSession
    private let system: SystemHandle
    private let progress: (Int) -> Void
    /// What reads the blocks in place of plain commands.
    private let carrier: (any BlockCarrier)?
    private let limits: CardLimits
    /// Half of what was requested by the command whose answer was damaged on every try.
    private var longest = Int.max

    /// - Parameters:
    ///   - carrier: reads the blocks; `nil` for Read Without Encryption.
    ///   - progress: called after each command with the number of blocks read so far.
    init(
        session: CardSession, system: SystemHandle, jobs: [ServiceJob], carrier: (any BlockCarrier)? = nil,
        progress: @escaping (Int) -> Void = { _ in }
    ) {
        self.carrier = carrier
        limits = carrier?.limits ?? session.limits
        self.session = session
        self.system = system
        self.jobs = jobs
        self.progress = progress
        for index in jobs.indices { self.jobs[index].settle() }
    }

    /// Reads everything that the jobs request.
    ///
    /// - Throws: ``ReadingError``; refused services and blocks are results, not errors, unless the system has answered
    ///   nothing at all: that refuses nothing.
    func run() throws(ReadingError) {
        while let step = nextStep() {
            do throws(ReadingError) {
                switch step {
                case .explore(let job, let from, let count): try explore(job, from: from, count: count)
                case .fetch(let elements): try fetch(elements)
                case .proveEnd(let job, let count): try proveEnd(job, count)
                }
            } catch {
                // A shorter answer may arrive whole.
                guard case .radio = error, step.count > 1, carrier == nil else { throw error }
                longest = step.count / 2
            }
            progress(jobs.reduce(0) { $0 + $1.have.count })
        }
        guard carrier == nil, !session.hasAnswered(system) else { return }
        for index in jobs.indices { jobs[index].forgetSilence() }
        if jobs.contains(where: { $0.stage != .done }) { throw .cardSilent }
    }

    // MARK: Next step

    /// One block of one job.
    private struct Element {
        let job: Int
        let block: UInt16
    }

    private enum Step {
        case explore(job: Int, from: Int, count: Int)
        case fetch([Element])
        case proveEnd(job: Int, count: Int)

        /// How many blocks it requests.
        var count: Int {
            switch self {
            case .explore(_, _, let count): count
            case .fetch(let elements): elements.count
            case .proveEnd: 1
            }
        }
    }

    /// Sizes first, since commands can be filled better when more is known; then the data; then the ends.
    private func nextStep() -> Step? {
        for (index, job) in jobs.enumerated() {
            if case .explore(let from, let below) = job.stage {
                return .explore(job: index, from: from, count: exploreCount(from: from, below: below))
            }
        }
        let elements = nextElements()
        if !elements.isEmpty { return .fetch(elements) }
        for (index, job) in jobs.enumerated() {
            if case .fetch(let count, confirmed: false) = job.stage { return .proveEnd(job: index, count: count) }
        }
        return nil
    }

    /// How many blocks a command requests: fewer than the card allows where long answers get lost.
    private var blocksPerRead: Int {
        carrier == nil ? session.blocksPerRead(min(limits.blocks, longest), of: system) : limits.blocks
    }

    /// With bitmap flags, the position of an error is unambiguous only among eight elements.
    private func exploreCount(from: Int, below: Int?) -> Int {
        let most = limits.style == .bitmap ? min(8, blocksPerRead) : blocksPerRead
        let half = below.map { ($0 - from) / 2 } ?? most
        return max(1, min(half, most, 0x1_0000 - from))
    }

    /// Returns as many elements as fit into one command, services in ascending order, which all cards accept.
    private func nextElements() -> [Element] {
        let most = blocksPerRead
        var elements: [Element] = []
        var services = 0
        var length = 12
        for (index, job) in jobs.enumerated().sorted(by: { $0.element.code < $1.element.code }) {
            let blocks = job.packable
            guard !blocks.isEmpty else { continue }
            if job.isAlone, services > 0 { continue }
            guard services < limits.services else { break }
            services += 1
            length += 2
            for block in blocks {
                let size = block > 0xFF ? 3 : 2
                guard elements.count < most, length + size <= 255 else { return elements }
                length += size
                elements.append(Element(job: index, block: block))
            }
            if job.isAlone { break }
        }
        return elements
    }

    // MARK: One command

    /// How often one block is asked for before silence counts as an answer: some readers lose two answers of three.
    private static let silences = 4

    private func send(_ elements: [Element]) throws(ReadingError) -> CardReply<[Block]> {
        var services: [ServiceCode] = []
        var places: [Int: Int] = [:]
        for element in elements where places[element.job] == nil {
            places[element.job] = services.count
            services.append(jobs[element.job].code)
        }
        let list = elements.map {
            BlockListElement(serviceIndex: places[$0.job] ?? 0, number: $0.block)
        }
        if let carrier { return try carrier.read(services, BlockList(list)) }
        // Where a service ends, and that it cannot be read, is said by nothing else when a card keeps silent.
        return try session.ask(system, silences: elements.count == 1 ? Self.silences : 2) {
            felica throws(FeliCaError) in
            try felica.readWithoutEncryption(services: services, blocks: BlockList(list))
        }
    }

    private func store(_ blocks: [Block], _ elements: [Element]) {
        for (element, block) in zip(elements, blocks) { jobs[element.job].have[element.block] = block }
        for index in Set(elements.map(\.job)) { jobs[index].settle() }
    }

    /// Lowers the limits after the card rejected a command of `count` blocks as too long.
    ///
    /// - Returns: whether a smaller command is possible.
    private func takeLess(than count: Int, services: Int, _ flags: StatusFlags?) -> Bool {
        if flags?.flag2 == .wrongServiceCount, services > 1 { return limits.lowerServices() }
        return limits.lowerBlocks(below: count)
    }

    // MARK: A service of unknown size

    private func explore(_ job: Int, from: Int, count: Int) throws(ReadingError) {
        let elements = (from..<from + count).map { Element(job: job, block: UInt16(truncatingIfNeeded: $0)) }
        switch try send(elements) {
        case .value(let blocks):
            store(blocks, elements)
            let next = from + count
            var below: Int?
            if case .explore(_, let bound) = jobs[job].stage { below = bound }
            jobs[job].stage = .explore(from: next, below: below.map { max($0, next + 1) })
            if next > 0xFFFF { jobs[job].end(at: 0x1_0000) }
        case .silent:
            guard count > 1 else { return settleSingle(job, from, nil) }
            if !limits.areKnown, takeLess(than: count, services: 1, nil) { return }
            jobs[job].stage = .explore(from: from, below: from + count)
        case .refused(let flags):
            if count > 1, flags.isTooMany, takeLess(than: count, services: 1, flags) { return }
            guard count > 1 else { return settleSingle(job, from, flags) }
            if !jobs[job].isDistrusted, flags.flag2 == .noSuchBlock,
                let place = try place(of: flags, among: count, job, from)
            {
                jobs[job].end(at: from + place)
            } else {
                jobs[job].stage = .explore(from: from, below: from + count)
            }
        }
    }

    /// The card refused block `from` on its own: the service ends there, or is refused as a whole.
    private func settleSingle(_ job: Int, _ from: Int, _ flags: StatusFlags?) {
        let endsHere = flags.map { $0.flag2 == .noSuchBlock } ?? false
        if from == 0, !endsHere {
            jobs[job].refuse(flags.map { .flags($0) } ?? .silence)
        } else {
            jobs[job].end(at: from)
        }
    }

    /// Returns the position in the block list, from 0, that the flags indicate; `nil` if they do not indicate one.
    private func place(
        of flags: StatusFlags, among count: Int, _ job: Int, _ from: Int
    ) throws(ReadingError) -> Int? {
        if limits.style == nil, flags.candidates(.ordinal, count: count) != flags.candidates(.bitmap, count: count) {
            try learnStyle(job, from)
        }
        let places =
            limits.style.map { flags.candidates($0, count: count) } ?? flags.candidates(.ordinal, count: count)
        return places.count == 1 ? places.first : nil
    }

    /// Determines how the card encodes the position of an error: of three elements, only the third is wrong.
    private func learnStyle(_ job: Int, _ from: Int) throws(ReadingError) {
        if from == 0 {
            let first = [Element(job: job, block: 0)]
            guard case .value(let blocks) = try send(first) else {
                limits.style = .alwaysFF
                return
            }
            store(blocks, first)
        }
        let good = Element(job: job, block: 0)
        let reply = try send([good, good, Element(job: job, block: 0xFFFF)])
        guard case .refused(let flags) = reply else {
            limits.style = .alwaysFF
            return
        }
        limits.style =
            flags.candidates(.ordinal, count: 3) == [2]
            ? .ordinal : flags.candidates(.bitmap, count: 3) == [2] ? .bitmap : .alwaysFF
    }

    // MARK: Services of known or usual size

    private func fetch(_ elements: [Element]) throws(ReadingError) {
        let services = Set(elements.map(\.job)).count
        switch try send(elements) {
        case .value(let blocks): store(blocks, elements)
        case .silent:
            if elements.count > 1, !limits.areKnown, takeLess(than: elements.count, services: services, nil) { return }
            distrust(elements, nil)
        case .refused(let flags):
            if elements.count > 1, flags.isTooMany, takeLess(than: elements.count, services: services, flags) { return }
            distrust(elements, flags)
        }
    }

    /// One of these elements does not exist or cannot be read; determines which.
    private func distrust(_ elements: [Element], _ flags: StatusFlags?) {
        if elements.count == 1, let only = elements.first {
            settleFetched(only, flags)
        } else if let flags, limits.style == .ordinal,
            let place = flags.candidates(.ordinal, count: elements.count).first,
            place < elements.count
        {
            settleFetched(elements[place], flags)
        } else {
            separate(elements)
        }
    }

    private func settleFetched(_ element: Element, _ flags: StatusFlags?) {
        switch jobs[element.job].stage {
        case .list:
            jobs[element.job].absent[element.block] = flags.map { .flags($0) } ?? .silence
            jobs[element.job].listStep = .max
            jobs[element.job].settle()
        case .fetch where flags?.flag2 == .noSuchBlock: jobs[element.job].end(at: Int(element.block))
        default: exploreAnew(element.job)
        }
    }

    /// The flags do not say which element it was: each service continues separately.
    private func separate(_ elements: [Element]) {
        let involved = Set(elements.map(\.job))
        for job in involved {
            if case .list = jobs[job].stage {
                if jobs[job].isAlone || involved.count == 1 { jobs[job].listStep = max(1, elements.count / 2) }
                jobs[job].isAlone = true
            } else {
                exploreAnew(job)
            }
        }
    }

    /// The assumed size of a service was wrong.
    private func exploreAnew(_ job: Int) {
        jobs[job].isDistrusted = true
        jobs[job].stage = .explore(from: ServiceJob.leadingCount(jobs[job].have), below: nil)
    }

    // MARK: The end of a service

    private func proveEnd(_ job: Int, _ count: Int) throws(ReadingError) {
        guard count <= 0xFFFF else { return jobs[job].end(at: 0x1_0000) }
        let element = Element(job: job, block: UInt16(truncatingIfNeeded: count))
        switch try send([element]) {
        case .value(let blocks):
            store(blocks, [element])
            jobs[job].stage = .explore(from: count + 1, below: nil)
        case .refused, .silent: jobs[job].end(at: count)
        }
    }
}

/// Reads blocks in another way than with Read Without Encryption.
protocol BlockCarrier: AnyObject {
    var limits: CardLimits { get }

    /// Reads blocks; the elements refer to these services by their index.
    func read(_ services: [ServiceCode], _ list: BlockList) throws(ReadingError) -> CardReply<[Block]>
}

/// How a card that is present failed to give what was requested.
@nonexhaustive
public enum RefusalReason: Hashable, Sendable {
    /// With these status flags.
    case flags(StatusFlags)
    /// By not answering.
    case silence

    /// Status flags 1 and 2 as one number; `nil` if the card did not answer.
    public var status: UInt16? {
        switch self {
        case .flags(let flags): flags.value
        case .silence: nil
        }
    }
}

extension RefusalReason {
    /// Returns the sentence that the card refused something, such as "service 090F".
    package func message(_ what: LocalizedText) -> LocalizedText {
        switch self {
        case .flags(let flags): flags.refusal(of: what)
        case .silence:
            LocalizedText(
                "the card does not answer requests for \(what.english)", "\(what.japanese) の読み出しにカードが応答しません")
        }
    }
}

extension StatusFlags {
    /// Status flags 1 and 2 as one number.
    var value: UInt16 { UInt16(flag1) << 8 | UInt16(flag2.rawValue) }

    /// Whether the command requested more services or blocks than the card returns at a time.
    var isTooMany: Bool { flag2 == .wrongServiceCount || flag2 == .wrongBlockCount }
}
