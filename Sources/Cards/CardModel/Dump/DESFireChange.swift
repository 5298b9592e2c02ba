// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// An application or a file of a MIFARE DESFire that differs between two dumps.
package struct DESFireChange: Hashable, Sendable {
    /// What a dump has of a file.
    package enum State: String, Hashable, Sendable {
        /// The contents, or the settings of an application.
        case read
        /// Only that it exists: the card withheld the rest.
        case withheld
    }

    /// The application; 0 for the card itself.
    package let application: UInt32
    /// The number of the file; `nil` for the application itself.
    package let file: UInt8?
    /// The state in the older and the newer dump; `nil` if it is not there.
    package let (oldState, newState): (State?, State?)
    /// Whether settings, rights, sizes or versions of keys differ.
    package let hasOtherSettings: Bool
    /// The rows of sixteen bytes that differ, by offset.
    package private(set) var rows: [FileChange.Row] = []
    /// The values of a value file; `nil` if they do not differ.
    package private(set) var value: NumberedChange<UInt8, Int32>?
    /// The records that differ, by place, the oldest from 0. Records that only moved up because older ones were dropped are
    /// not among them.
    package private(set) var records: [NumberedChange<Int, [UInt8]>] = []

    /// Returns what differs, in the order of the newer dump, then what only the older one has.
    static func all(_ old: DESFireMemory?, _ new: DESFireMemory?) -> [DESFireChange] {
        let before = old.map { [$0.card] + $0.applications } ?? []
        let after = new.map { [$0.card] + $0.applications } ?? []
        let ids = after.map(\.id) + before.map(\.id).filter { id in !after.contains { $0.id == id } }
        return ids.flatMap { id -> [DESFireChange] in
            let (from, to) = (before.first { $0.id == id }, after.first { $0.id == id })
            var changes: [DESFireChange] = []
            let application = DESFireChange(from, to)
            if application.isChange { changes.append(application) }
            let (files, others) = (to?.files ?? [], from?.files ?? [])
            let numbers =
                files.map(\.number)
                + others.map(\.number).filter { number in
                    !files.contains { $0.number == number }
                }
            for number in numbers {
                let change = DESFireChange(
                    id, number, others.first { $0.number == number }, files.first { $0.number == number })
                if change.isChange { changes.append(change) }
            }
            return changes
        }
    }

    private var isChange: Bool {
        oldState != newState || hasOtherSettings || !rows.isEmpty || value != nil || !records.isEmpty
    }

    private init(_ old: DESFireMemory.Application?, _ new: DESFireMemory.Application?) {
        (application, file) = (new?.id ?? old?.id ?? 0, nil)
        (oldState, newState) = (old.map(Self.state), new.map(Self.state))
        guard let old, let new else {
            hasOtherSettings = false
            return
        }
        // What one of the dumps does not know is not a difference.
        hasOtherSettings =
            Self.differ(old.settings, new.settings) || Self.differ(old.keyType, new.keyType)
            || Self.differ(old.keyCount, new.keyCount) || old.name != new.name
            || zip(old.keyVersions, new.keyVersions).contains { $0 != $1 }
    }

    private init(_ application: UInt32, _ number: UInt8, _ old: DESFireMemory.File?, _ new: DESFireMemory.File?) {
        (self.application, file) = (application, number)
        (oldState, newState) = (old.map(Self.state), new.map(Self.state))
        hasOtherSettings = old.flatMap { old in new.map { !old.hasSettings(of: $0) } } ?? false
        switch (old?.contents, new?.contents) {
        case (.data(let before)?, .data(let after)?): rows = FileChange.rows(before, after)
        case (.data(let before)?, _): rows = FileChange.rows(before, nil)
        case (_, .data(let after)?): rows = FileChange.rows(nil, after)
        default: break
        }
        let (before, after) = (old?.value, new?.value)
        if before != after { value = NumberedChange(number: number, old: before, new: after) }
        records = Self.records(old?.records ?? [], new?.records ?? [])
    }

    /// Records that are at another place only because older ones were dropped are the same.
    private static func records(_ old: [[UInt8]], _ new: [[UInt8]]) -> [NumberedChange<Int, [UInt8]>] {
        let dropped = (0..<old.count).first { new.starts(with: old[$0...]) } ?? 0
        let gone = old[..<dropped].enumerated().map {
            NumberedChange<Int, [UInt8]>(number: $0.offset, old: $0.element, new: nil)
        }
        let kept = Array(old[dropped...])
        return gone
            + (0..<max(kept.count, new.count)).compactMap { place in
                let (before, after) = (kept.element(at: place), new.element(at: place))
                return before == after ? nil : NumberedChange(number: place, old: before, new: after)
            }
    }

    /// The offsets of the bytes of a record that changed; empty if one of the dumps does not have the record.
    package static func changedBytes(_ record: NumberedChange<Int, [UInt8]>) -> [Int] {
        DumpDiff.changedBytes(record.old, record.new)
    }

    private static func differ<Value: Equatable>(_ old: Value?, _ new: Value?) -> Bool {
        if let old, let new { old != new } else { false }
    }

    private static func state(_ application: DESFireMemory.Application) -> State {
        application.settings == nil ? .withheld : .read
    }

    private static func state(_ file: DESFireMemory.File) -> State { file.contents == nil ? .withheld : .read }
}

extension DESFireMemory.File {
    /// Whether a file has the same kind, rights and size; the number of records is not a setting.
    fileprivate func hasSettings(of other: DESFireMemory.File) -> Bool {
        kind == other.kind && mode == other.mode && rights == other.rights && size == other.size
            && limits == other.limits && hasLimitedCredit == other.hasLimitedCredit && maxRecords == other.maxRecords
    }

    fileprivate var value: Int32? { if case .value(let value)? = contents { value } else { nil } }

    fileprivate var records: [[UInt8]]? { if case .records(let records)? = contents { records } else { nil } }
}
