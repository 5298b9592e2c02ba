// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

extension CardDump {
    /// Returns whether the card has the service of a request and allows reading it, judging by the dump.
    public func holds(_ request: ReadRequest) -> Bool {
        guard let found = system(request.system) else { return false }
        guard let service = found.service(request.service) else { return found.openedWithKeys(request.service) != nil }
        if !service.blocks.isEmpty { return true }
        return switch service.state {
        case .read, .lost, .skipped: true
        case .refused, .keyRequired: found.openedWithKeys(request.service) != nil
        }
    }

    /// Returns the service that contains the blocks of a request; `nil` when nothing was read.
    ///
    /// This is the requested service, or one with other access to the same blocks: one that was read in its place, or that
    /// keys opened.
    public func opened(_ request: ReadRequest) -> ServiceDump? {
        guard let found = system(request.system) else { return nil }
        guard let service = found.service(request.service) else { return found.openedWithKeys(request.service) }
        if !service.blocks.isEmpty || service.state == .read { return service }
        guard service.state == .skipped else { return found.openedWithKeys(request.service) }
        return found.services.first {
            $0.code.overlapGroup == service.code.overlapGroup && $0.code.kind == service.code.kind && !$0.blocks.isEmpty
        }
    }

    /// Returns the first block of a request.
    ///
    /// - Parameters:
    ///   - request: the service and the number of the block.
    ///   - card: the decoder's id, for the error.
    ///   - field: the value that the block is read for, as in `balance`, for the error.
    ///   - offset: where in the block the field begins, 0 to 15, for the error.
    /// - Throws: ``CardDecodingError`` that says why the block is missing.
    public func block(_ request: ReadRequest, kind: CardKind, field: String, offset: Int) throws(CardDecodingError)
        -> Block
    {
        let number = request.blocks.lowerBound
        if let block = opened(request)?.blocks[number] { return block }
        let reason: CardDecodingError.Reason =
            switch system(request.system)?.service(request.service)?.state {
            case nil: .noSuchService
            case .read, .skipped: .notRead
            case .keyRequired: .keyRequired
            case .refused: .refused
            case .lost: .lost
            }
        throw CardDecodingError(
            kind: kind, field: field, system: request.system, service: request.service, block: number, offset: offset,
            reason: reason)
    }
}

extension SystemDump {
    /// The service that keys opened and that has the same blocks as this one.
    fileprivate func openedWithKeys(_ service: ServiceCode) -> ServiceDump? {
        services.first {
            $0.opened != nil && $0.code.overlapGroup == service.overlapGroup && $0.code.kind == service.kind
                && !$0.blocks.isEmpty
        }
    }
}

/// The used blocks of a cyclic service: block 0 is the newest, the first unused one ends them.
struct BlockSequence {
    /// One used block.
    struct Entry {
        /// The bytes.
        let block: Block
        /// Whether the block with the next number, which is the next older one, was read too.
        var olderWasRead: Bool
    }

    /// The blocks, newest first.
    let entries: [Entry]
    /// Whether one of them, or the block that ends them, was not read.
    let isIncomplete: Bool

    /// Collects the blocks of a service up to the first for which `isUnused` returns true.
    init(_ service: ServiceDump, isUnused: (Block) -> Bool) {
        var entries: [Entry] = []
        entries.reserveCapacity(service.blocks.count)
        var before: UInt16 = 0
        var hasGap = false
        var endWasSeen = service.state == .read
        for (number, block) in service.blocks {
            if Int(number) != entries.count { hasGap = true }
            if let last = entries.indices.last { entries[last].olderWasRead = number == before &+ 1 }
            if isUnused(block) {
                endWasSeen = true
                break
            }
            before = number
            entries.append(Entry(block: block, olderWasRead: false))
        }
        self.entries = entries
        isIncomplete = !endWasSeen || hasGap
    }
}

extension Block {
    /// The number in `count` bytes of binary-coded decimal, or `nil` when a digit is above 9.
    func decimal(at offset: Int, count: Int) -> Int? {
        var number = 0
        for place in 0..<count {
            guard let value = BCD.value(self[offset + place]) else { return nil }
            number = number * 100 + value
        }
        return number
    }
}

/// Text that cards store as plain bytes.
enum CardText {
    /// Printable ASCII up to the first 00 or the end, without trailing blanks.
    ///
    /// `nil` when there is none or when another byte occurs.
    static func ascii(_ bytes: some Sequence<UInt8>) -> String? {
        let text = bytes.prefix { $0 != 0 }
        guard text.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        let trimmed = text.reversed().drop { $0 == 0x20 }.reversed()
        return trimmed.isEmpty ? nil : String(decoding: Array(trimmed), as: UTF8.self)
    }

    /// Text in ASCII or Shift_JIS up to the first 00 or the end, without trailing blanks of either width.
    ///
    /// `nil` when there is none, or when a control character or something else occurs.
    static func shiftJIS(_ bytes: some Sequence<UInt8>) -> String? {
        let text = Array(bytes.prefix { $0 != 0 })
        if let ascii = ascii(text) { return ascii }
        guard !text.isEmpty, let utf8 = CP932.utf8(text) else { return nil }
        let characters = String(decoding: utf8, as: UTF8.self)
        guard characters.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        let trimmed = characters.reversed().drop { $0 == " " || $0 == "\u{3000}" }.reversed()
        return trimmed.isEmpty ? nil : String(trimmed)
    }

    /// The values of exactly `count` decimal digits in ASCII; `nil` for anything else.
    static func digits(_ bytes: some Collection<UInt8>, count: Int) -> [Int]? {
        guard bytes.count == count, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return bytes.map { Int($0) - 0x30 }
    }

    /// The text, or if it is not text, the bytes as hexadecimal digits.
    static func asciiOrHex(_ bytes: some Collection<UInt8>) -> String {
        ascii(bytes) ?? Hex.encode(bytes, uppercase: true)
    }
}

/// The records of a cyclic service with one record per used block, and the amounts that follow from them.
package struct LocalHistory {
    /// The records, newest first.
    private(set) var records: [HistoryRecord]
    /// Whether a block of the history was not read.
    let isIncomplete: Bool
    private let olderWasRead: [Bool]

    /// Decodes the records up to the first unused block: an all-zero one, or one for which `record` returns `nil`.
    init(_ service: ServiceDump, record: (Block) -> HistoryRecord?) {
        var records: [HistoryRecord] = []
        let sequence = BlockSequence(service) { block in
            guard !block.isZero, let record = record(block) else { return true }
            records.append(record)
            return false
        }
        self.records = records
        olderWasRead = sequence.entries.map(\.olderWasRead)
        isIncomplete = sequence.isIncomplete
    }

    /// Sets the amount of each record to the difference between its balance and that of the next older record.
    ///
    /// A cyclic service keeps the next older record in the next block; the oldest record's amount stays unknown.
    ///
    /// - Parameter steps: the range by which the running number can rise from one record to the next (16 bits, with
    ///   wraparound); `nil` where the card keeps none.
    mutating func takeAmountsFromBalances(steps: ClosedRange<Int>? = nil) {
        // Accesses records by index: a second reference to the array would make the first mutation copy it.
        for place in records.indices.dropLast() {
            guard olderWasRead[place] else {
                records[place].warnings.append(.olderRecordMissing)
                continue
            }
            if let steps, let newer = records[place].serial, let old = records[place + 1].serial {
                let step = (newer &- old) & 0xFFFF
                guard steps.contains(step) else {
                    records[place].warnings.append((1..<0x8000).contains(step) ? .serialGap : .serialOrder)
                    continue
                }
            }
            guard let after = records[place].balance, let before = records[place + 1].balance else { continue }
            records[place].amount = after - before
        }
    }

    /// Flags each record whose own amount is not the difference of the balances.
    mutating func checkAmounts() {
        for place in records.indices.dropLast() where olderWasRead[place] {
            guard let amount = records[place].amount, let after = records[place].balance,
                let before = records[place + 1].balance
            else { continue }
            if after - before != amount { records[place].warnings.append(.amountDiffersFromBalances) }
        }
    }

    /// Corrects the amounts of records that state a fare of which points can have paid a part.
    ///
    /// The money is the difference of the balances, and the rest of the fare was paid by points. Where the older balance
    /// is unknown, a fare that points were redeemed for says nothing of the money. Any other difference is odd.
    mutating func takeRedeemedPoints() {
        for place in records.indices {
            guard let points = records[place].points else { continue }
            let fare = records[place].amount
            var paid: Int?
            if place + 1 < records.count, olderWasRead[place], let after = records[place].balance,
                let before = records[place + 1].balance
            {
                paid = after - before
            }
            let isRedeemed = points.redeemed == nil
            records[place].amount = isRedeemed ? paid : paid ?? fare
            guard let paid, let fare else { continue }
            if isRedeemed, fare <= paid, paid <= 0 {
                records[place].points?.redeemed = paid - fare
            } else if paid != fare {
                records[place].warnings.append(.amountDiffersFromBalances)
            }
        }
    }

    /// Updates every record in turn, newest first.
    mutating func update(_ change: (_ place: Int, _ record: inout HistoryRecord) -> Void) {
        for place in records.indices { change(place, &records[place]) }
    }
}

extension CardReport {
    /// Adopts a history, with warnings when a value of it is doubtful and when some of it was not read.
    mutating func take(_ local: LocalHistory) {
        history = local.records
        if local.records.contains(where: \.hasDoubt) { warnings.append(.doubtfulValues) }
        if local.isIncomplete { warnings.append(.historyIncomplete) }
    }
}
