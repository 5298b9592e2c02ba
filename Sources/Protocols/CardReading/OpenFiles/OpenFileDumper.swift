// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ISO7816
internal import NDEF
internal import ReaderCore

/// Reads the public files of an ISO 7816 card, and can resume an interrupted dump.
///
/// No PIN is sent or queried: the card receives only SELECT and READ BINARY.
package struct OpenFileDumper: Dumper {
    private let session: ISO7816Session
    private let identity: CardIdentity
    private let earlier: CardDump?
    private let plan: [OpenFile]

    /// Makes a dumper for the card behind a session.
    ///
    /// - Parameters:
    ///   - identity: the identity of the card, as found by the reader.
    ///   - earlier: an incomplete dump of the same card; files that it contains completely are not read again.
    ///   - plan: the files to try; all of the table by default.
    package init(
        session: ISO7816Session, identity: CardIdentity, resuming earlier: CardDump? = nil,
        plan: [OpenFile] = OpenFile.all
    ) {
        self.session = session
        self.identity = identity
        self.earlier = earlier
        self.plan = plan
    }

    /// Returns whether the dump is of a card with the identity of this one.
    ///
    /// The PUPI of most type B cards, and UIDs that begin with 08, are generated again each time and prove nothing.
    package func isSameCard(_ dump: CardDump) -> Bool {
        guard dump.card.technology == identity.technology else { return false }
        let isRandom = identity.uid.map { $0.count == 4 && $0.first == 0x08 } ?? true
        return (isRandom || dump.card.uid == identity.uid) && dump.card.ats == identity.ats
            && dump.card.applicationData == identity.applicationData
            && dump.card.protocolInfo == identity.protocolInfo
    }

    /// Reads the card. The dump contains what was read before an interruption; its `missing` lists the rest.
    package func dump() -> DumpOutcome {
        var applications: [ApplicationDump] = []
        var missing: [MissingPart] = []
        var interruption: ReadingError?
        var groups: [[OpenFile]] = []
        for file in plan {
            if let last = groups.indices.last, groups[last].first?.application == file.application {
                groups[last].append(file)
            } else {
                groups.append([file])
            }
        }
        for group in groups {
            guard let first = group.first else { continue }
            let aid = first.application
            let before = earlier?.application(aid)
            if let interruption {
                if let before { applications.append(before) }
                missing.append(MissingPart(application: aid, reason: interruption.word))
                continue
            }
            var reading = ApplicationReading(session: session, aid: aid, earlier: before)
            do throws(ReadingError) {
                try reading.run(group)
            } catch {
                interruption = error
                missing += reading.missing(error.word)
            }
            if !reading.dump.files.isEmpty { applications.append(reading.dump) }
        }
        var dump = CardDump(
            complete: missing.isEmpty, missing: missing, card: earlier?.card ?? identity,
            applications: applications, extra: earlier?.extra ?? JSONObject())
        // Contents of an earlier dump that are not in the plan are kept.
        let planned = Set(plan.map(\.application))
        dump.applications += (earlier?.applications ?? []).filter { !planned.contains($0.aid) }
        return DumpOutcome(dump: dump, interruption: interruption)
    }
}

/// A file that anyone can read; the facts are rows of `Data/open-files.tsv`.
package struct OpenFile: Hashable, Sendable {
    /// The application; `nil` for the master file.
    package let application: AID?
    /// The file; `nil` if another file names it.
    package let file: FileIdentifier?
    /// How far to read.
    package let length: Length
    package let name: LocalizedText

    /// The methods to determine how far to read a file.
    package enum Length: Hashable, Sendable {
        /// This many bytes, or to its end.
        case bytes(Int)
        /// To the end of the BER-TLV object at its start.
        case dataObject
        /// To the length given by the two bytes at its start.
        case counted
        /// The NDEF files listed in the Capability Container.
        case ndef
    }

    init(_ row: FactRow) throws(FactTableError) {
        if let text = try row.text("application") {
            guard let aid = AID(text) else { throw row.fault("application", .notANumber) }
            application = aid
        } else {
            application = nil
        }
        if try row.text("file") == nil { file = nil } else { file = FileIdentifier(rawValue: try row.hex("file")) }
        switch try row.required("length") {
        case "object": length = .dataObject
        case "counted": length = .counted
        case "ndef": length = .ndef
        default: length = .bytes(try row.decimal("length") ?? 0)
        }
        guard file != nil || length == .ndef else { throw row.fault("file", .empty) }
        name = try row.requiredName()
    }

    /// Every file of the table, in the order in which they are read.
    package static var all: [OpenFile] { table.rows }

    /// The faults of the table; a release has none.
    package static var faults: [FactTableError] { table.faults }

    private static let table = FactTable(
        PackageResources.open_files_tsv, columns: ["application", "file", "length", "english", "japanese"],
        key: ["application", "file"], row: OpenFile.init(_:))
}
