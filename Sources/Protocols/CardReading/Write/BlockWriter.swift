// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import FeliCa
internal import ReaderCore

/// Writes blocks of one service, all or none, and reads them back.
///
/// The command is sent once. If its answer is lost, the blocks are read: done is done, and what was not done is sent once
/// more. A change of a purse carries an execution ID, so that the card itself does not carry it out twice.
package struct BlockWriter {
    private let session: CardSession
    private let system: SystemHandle
    private let keyring: StandardKeyring?

    /// - Parameter keyring: the owner's keys; `nil` to write only services that need none.
    package init(session: CardSession, system: SystemHandle, keyring: StandardKeyring?) {
        (self.session, self.system, self.keyring) = (session, system, keyring)
    }

    /// Checks a write and reads the blocks that it changes; nothing is written.
    package func plan(_ write: BlockWrite) throws(BlockWriteError) -> PlannedWrite {
        try write.check()
        return try open(write.service) { carrier throws(BlockWriteError) in
            try carrier.check(write)
            let before = try Self.read(write, carrier)
            let after = try write.after(before)
            let blocks = zip(write.numbers, zip(before, after)).map {
                PlannedWrite.ChangedBlock(number: $0, before: $1.0, after: $1.1)
            }
            return PlannedWrite(write: write, system: system, opened: carrier.opened, blocks: blocks)
        }
    }

    /// Writes what was planned, unless the blocks changed since.
    ///
    /// - Returns: whether anything was written; `false` if the card has all of it already.
    package func run(_ planned: PlannedWrite) throws(BlockWriteError) -> Bool {
        let write = planned.write
        return try open(write.service) { carrier throws(BlockWriteError) in
            let found = try Self.read(write, carrier)
            for (block, found) in zip(planned.blocks, found) where block.before != found {
                throw .changed(block: block.number)
            }
            guard !planned.isDone else { return false }
            for isLast in [false, true] {
                switch try send(planned, carrier) {
                case .refused(let flags): throw Self.refusal(flags, planned)
                case .done:
                    try verify(planned, carrier)
                    return true
                case .lost:
                    guard let found = try? Self.read(write, carrier) else { throw .unconfirmed }
                    if found == planned.after { return true }
                    guard found == planned.before else { throw .unconfirmed }
                    if isLast { throw .unanswered(write.service) }
                }
            }
            return true
        }
    }

    /// Reads blocks of a service in a row, with the keys that a write to it takes.
    func read(_ service: ServiceCode, from number: UInt16, count: Int) throws(BlockWriteError) -> [Block] {
        let blocks = BlockWrite(service, block: number, .blocks(Array(repeating: .zero, count: count)))
        return try open(service) { carrier throws(BlockWriteError) in try Self.read(blocks, carrier) }
    }

    private func send(_ planned: PlannedWrite, _ carrier: any WritingCarrier) throws(BlockWriteError) -> WriteReply {
        do throws(ReadingError) {
            try session.checkCancellation()
            return try carrier.write(
                planned.write.list(serviceIndex: carrier.index(of: planned.write.service)),
                planned.write.data(after: planned.after))
        } catch {
            throw .reading(error)
        }
    }

    private func verify(_ planned: PlannedWrite, _ carrier: any WritingCarrier) throws(BlockWriteError) {
        guard let found = try? Self.read(planned.write, carrier) else { throw .notReadBack }
        for (block, found) in zip(planned.blocks, found) where block.after != found {
            throw .notVerified(block: block.number)
        }
    }

    private static func refusal(_ flags: StatusFlags, _ planned: PlannedWrite) -> BlockWriteError {
        switch flags.flag2.rawValue {
        case 0x01, 0x02, 0x03:
            let block = planned.before.first ?? .zero
            return .purseRange(value: block.uint32(at: 0, .little), last: block.uint32(at: 4, .little))
        default: return .refused(planned.write.service, .flags(flags))
        }
    }

    /// Reads the blocks of a write, in as few commands as fit.
    private static func read(_ write: BlockWrite, _ carrier: any WritingCarrier) throws(BlockWriteError) -> [Block] {
        var read: [Block] = []
        while read.count < write.numbers.count {
            let batch = write.numbers[read.count...].prefix(carrier.limits.blocks)
            let reply: CardReply<[Block]>
            do throws(ReadingError) {
                reply = try carrier.read([write.service], BlockList(numbers: batch))
            } catch {
                throw .reading(error)
            }
            switch reply {
            case .value(let blocks): read += blocks
            case .refused(let flags) where flags.isTooMany && carrier.limits.lowerBlocks(below: batch.count): continue
            case .refused(let flags) where flags.flag2 == .noSuchBlock:
                // The numbers are in a row, so the last one is missing.
                throw .noSuchBlock(write.service, batch.last ?? write.number)
            case .refused(let flags): throw .refused(write.service, .flags(flags))
            case .silent: throw .refused(write.service, .silence)
            }
        }
        return read
    }

    // MARK: Opening the service

    private typealias Use<Value> = (any WritingCarrier) throws(BlockWriteError) -> Value

    private func open<Value>(_ service: ServiceCode, _ use: Use<Value>) throws(BlockWriteError) -> Value {
        guard system.isStandard else { throw .key(.notStandard) }
        guard service.requiresAuthentication else {
            return try use(PlainCarrier(session: session, system: system))
        }
        guard let keyring, keyring.keys.hasKey(of: service.node, in: system.code, card: session.target.idm) else {
            throw .key(.key(.noKey, service: service, node: service.node))
        }
        let reading = StandardReading(session: session, system: system, keyring: keyring)
        var result: Result<Value, BlockWriteError>?
        do throws(ReadingError) {
            try reading.use(service) { () throws(ReadingError) in
                try session.nodes(of: system)
            } body: { carrier in
                do throws(BlockWriteError) {
                    result = .success(try use(carrier))
                } catch {
                    result = .failure(error)
                }
            }
        } catch {
            // The card may leave once the work is done.
            if result == nil { throw .reading(error) }
        }
        if let result { return try result.get() }
        guard let end = reading.ends[service], let error = StandardKeyError(end, service) else {
            throw .reading(.cardLost)
        }
        throw .key(error)
    }
}

/// How a card answered a write.
enum WriteReply {
    case done
    case refused(StatusFlags)
    /// Whether it wrote is unknown.
    case lost
}

/// Reads and writes blocks of a service.
protocol WritingCarrier: BlockCarrier {
    /// The cipher of the keys that opened the service; `nil` for a service that needs none.
    var opened: StandardScheme? { get }
    /// The index of a service in the lists of ``write(_:_:)``.
    func index(of service: ServiceCode) -> Int
    /// Checks that the blocks fit into one command.
    func check(_ write: BlockWrite) throws(BlockWriteError)
    /// Sends one command, once.
    func write(_ list: BlockList, _ data: [Block]) throws(ReadingError) -> WriteReply
}

extension WritingCarrier {
    /// Checks a write by the length of its frame.
    func check(_ write: BlockWrite, length: (BlockList) -> Int, most: Int) throws(BlockWriteError) {
        let list = write.list(serviceIndex: 0)
        guard list.count <= most, length(list) <= 255 else {
            let fits = (1...most).last { length(BlockList(Array(list.elements.prefix($0)))) <= 255 } ?? most
            throw .tooManyBlocks(list.count, most: fits)
        }
    }
}

/// Reads and writes without keys.
private final class PlainCarrier: WritingCarrier {
    let limits: CardLimits
    let opened: StandardScheme? = nil
    private let session: CardSession
    private let system: SystemHandle
    private var service: ServiceCode?

    init(session: CardSession, system: SystemHandle) {
        (self.session, self.system) = (session, system)
        limits = session.limits
    }

    func index(of service: ServiceCode) -> Int {
        self.service = service
        return 0
    }

    func check(_ write: BlockWrite) throws(BlockWriteError) {
        // LEN, code, IDm, one service and the counts.
        try check(write, length: { 14 + $0.bytes.count + 16 * $0.count }, most: 13)
    }

    func read(_ services: [ServiceCode], _ list: BlockList) throws(ReadingError) -> CardReply<[Block]> {
        try session.ask(system) { felica throws(FeliCaError) in
            try felica.readWithoutEncryption(services: services, blocks: list)
        }
    }

    func write(_ list: BlockList, _ data: [Block]) throws(ReadingError) -> WriteReply {
        let felica = FeliCaSystem(
            channel: SessionChannel(session: session, isPatient: false), idm: system.idm, pmm: system.pmm)
        do throws(FeliCaError) {
            try felica.writeWithoutEncryption(services: service.map { [$0] } ?? [], blocks: list, data: data)
            return .done
        } catch {
            guard case .status(let flags) = error else { return .lost }
            return .refused(flags)
        }
    }
}
