// SPDX-License-Identifier: Apache-2.0

/// One file of an ISO 7816 card that two dumps show differently.
public struct FileChange: Hashable, Sendable {
    /// The application; `nil` for the master file.
    public let application: AID?
    /// The file.
    public let file: FileIdentifier
    /// What became of it in the older dump; `nil` when it is not there.
    public let oldState: ReadState?
    /// What became of it in the newer dump; `nil` when it is not there.
    public let newState: ReadState?
    /// The rows of sixteen bytes that differ, by offset.
    public let rows: [Row]

    /// Up to sixteen bytes of a file.
    public struct Row: Hashable, Sendable {
        /// Where the first byte lies in the file: a multiple of 16.
        public let offset: Int
        /// What they were; `nil` where the older file ends before them.
        public let old: [UInt8]?
        /// What they are; `nil` where the newer file ends before them.
        public let new: [UInt8]?

        /// The offsets in the row of the bytes that changed; empty when one of the files does not have the row.
        public var changedBytes: [Int] { DumpDiff.changedBytes(old, new) }
    }

    private static let width = 16

    /// The change of one file, or `nil` when there is none.
    init?(_ application: AID?, _ old: FileDump?, _ new: FileDump?) {
        guard let file = new?.id ?? old?.id, old?.state != new?.state || old?.data != new?.data else { return nil }
        self.application = application
        self.file = file
        (oldState, newState) = (old?.state, new?.state)
        let length = max(old?.data.count ?? 0, new?.data.count ?? 0)
        rows = stride(from: 0, to: length, by: FileChange.width).compactMap { offset in
            let row = Row(
                offset: offset, old: FileChange.row(old?.data, offset), new: FileChange.row(new?.data, offset))
            return row.old == row.new ? nil : row
        }
    }

    private static func row(_ data: [UInt8]?, _ offset: Int) -> [UInt8]? {
        guard let row = data?.dropFirst(offset).prefix(width), !row.isEmpty else { return nil }
        return Array(row)
    }

    /// The files that differ, in the order of the newer dump, then those that only the older one has.
    static func all(_ old: CardDump, _ new: CardDump) -> [FileChange] {
        var seen: Set<Place> = []
        var changes: [FileChange] = []
        for (dump, other, isNew) in [(new, old, true), (old, new, false)] {
            for application in dump.applications {
                for file in application.files
                where seen.insert(Place(application: application.aid, file: file.id)).inserted {
                    let found = other.application(application.aid)?.file(file.id)
                    let (before, after) = isNew ? (found, file) : (file, found)
                    if let change = FileChange(application.aid, before, after) { changes.append(change) }
                }
            }
        }
        return changes
    }

    private struct Place: Hashable {
        let application: AID?
        let file: FileIdentifier
    }
}
