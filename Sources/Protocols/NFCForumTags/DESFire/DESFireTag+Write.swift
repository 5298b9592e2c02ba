// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What changes files: checked before anything is sent, committed once, read back. When an answer is lost, the file is read
/// and says what happened; no write is sent again.
extension DESFireTag {
    /// Writes bytes to a standard or backup file, or one new record.
    ///
    /// - Parameters:
    ///   - bytes: at least one.
    ///   - offset: where in the file, or in the new record, whose other bytes are zeros.
    /// - Returns: whether the file was read back; a key may have the right to write and not to read.
    /// - Throws: ``DESFireError``; nothing was written with ``DESFireError/notAllowed(_:_:)`` and
    ///   ``DESFireError/outOfRange(_:)``.
    package func write(
        _ file: DESFireFileID, _ bytes: [UInt8], at offset: Int, key: DESFireKey? = nil,
        method: DESFireAuthenticationMethod? = nil
    ) throws(DESFireError) -> Bool {
        let settings = try open(file, for: .write, key, method)
        let room: Int
        switch settings.extent {
        case .bytes(let size): room = size
        case .records(let size, let maximum, let count):
            room = size
            guard settings.type == .cyclic || count < maximum else {
                throw .outOfRange(DESFireRange(wanted: count + 1, lower: 0, upper: maximum))
            }
        case .value: throw .otherType(file, settings.type)
        }
        guard settings.type != .transactionMAC else { throw .otherType(file, settings.type) }
        guard offset >= 0, offset <= room, bytes.count <= room - offset else {
            throw .outOfRange(DESFireRange(wanted: offset + bytes.count, lower: 0, upper: room))
        }
        let change = Change(
            file: file, key: key, method: method,
            before: try state(settings, offset, bytes.count), wanted: wanted(settings, bytes, offset))
        return try run(change) { () throws(DESFireError) in
            try write(settings, at: offset, bytes)
            if settings.type != .standard { _ = try link.ask(.commit) }
        } state: { () throws(DESFireError) in
            try state(try self.settings(of: file), offset, bytes.count)
        }
    }

    /// Adds to a value, or subtracts from it.
    ///
    /// - Parameter amount: above 0 for a credit, below 0 for a debit.
    /// - Returns: the new value; `nil` if the key may not read it.
    package func change(
        _ file: DESFireFileID, by amount: Int32, key: DESFireKey? = nil, method: DESFireAuthenticationMethod? = nil
    ) throws(DESFireError) -> Int32? {
        let settings = try open(file, for: amount < 0 ? .debit : .credit, key, method)
        guard case .value(let lower, let upper, _) = settings.extent else { throw .otherType(file, settings.type) }
        let before = settings.mode(.read, key: link.keyNumber) == nil ? nil : try value(of: settings)
        if let before {
            let wanted = Int(before) + Int(amount)
            guard (Int(lower)...max(Int(lower), Int(upper))).contains(wanted) else {
                throw .outOfRange(DESFireRange(wanted: wanted, lower: Int(lower), upper: Int(upper)))
            }
        }
        let after = before.map { $0 + amount }
        let change = Change(
            file: file, key: key, method: method, before: before.map { State(value: $0) },
            wanted: after.map { State(value: $0) })
        let isRead = try run(change) { () throws(DESFireError) in
            try self.change(settings, by: amount)
            _ = try link.ask(.commit)
        } state: { () throws(DESFireError) in
            State(value: try value(of: settings))
        }
        return isRead ? after : nil
    }

    /// What can be seen of a file before and after a write.
    private struct State: Hashable {
        var value: Int32?
        /// The bytes at the place, or those of the newest record.
        var bytes: [UInt8]?
        /// The number of records.
        var count: Int?
    }

    /// A write, and what a file shows before and after it; `nil` for a file that cannot be read.
    private struct Change {
        let file: DESFireFileID
        let key: DESFireKey?
        let method: DESFireAuthenticationMethod?
        let before: State?
        let wanted: State?
    }

    private func state(_ file: DESFireFile, _ offset: Int, _ count: Int) throws(DESFireError) -> State? {
        guard file.mode(.read, key: link.keyNumber) != nil else { return nil }
        guard case .records(let size, _, let records) = file.extent else {
            return State(bytes: try bytes(of: file, offset, count))
        }
        let newest = records == 0 ? nil : try self.records(of: file, size, skipping: 0, 1).first
        return State(bytes: newest, count: records)
    }

    private func wanted(_ file: DESFireFile, _ bytes: [UInt8], _ offset: Int) -> State? {
        guard case .records(let size, let maximum, let count) = file.extent else { return State(bytes: bytes) }
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: max(0, count)) }
        let record = zeros(offset) + bytes + zeros(size - offset - bytes.count)
        // A cyclic file keeps one record less than it has room for.
        return State(bytes: record, count: min(count + 1, file.type == .cyclic ? maximum - 1 : maximum))
    }

    /// Writes once and reads back.
    ///
    /// - Returns: whether it was read back.
    private func run(
        _ change: Change, _ write: () throws(DESFireError) -> Void, state: () throws(DESFireError) -> State?
    ) throws(DESFireError) -> Bool {
        do throws(DESFireError) {
            try write()
        } catch .tag(.cancelled) {
            throw .tag(.cancelled)
        } catch .tag(.crypto(let error)) {
            throw .tag(.crypto(error))
        } catch .tag {
            throw .answerLost(outcome(of: change, state))
        } catch {
            throw error
        }
        guard change.before != nil else { return false }
        let after: State?
        do throws(DESFireError) {
            after = try state()
        } catch .tag(.cancelled) {
            throw .tag(.cancelled)
        } catch {
            // The card said that it wrote, and the read was lost: the file is read once more.
            let outcome = outcome(of: change, state)
            guard outcome == .done else { throw .answerLost(outcome) }
            return true
        }
        guard after == change.wanted else { throw .notVerified }
        return true
    }

    /// What the file says after an answer was lost, in a new session.
    private func outcome(of change: Change, _ state: () throws(DESFireError) -> State?) -> DESFireOutcome {
        guard let before = change.before, let wanted = change.wanted, before != wanted,
            (try? open(change.file, for: .read, change.key, change.method)) != nil, let now = try? state()
        else { return .unknown }
        if now == wanted { return .done }
        return now == before ? .notDone : .partly
    }
}
