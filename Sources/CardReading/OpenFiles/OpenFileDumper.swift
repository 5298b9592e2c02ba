// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ISO7816
internal import NDEF
internal import NFCTransport

/// Reads the files of an ISO 7816 card that anybody may read, and goes on with a dump that was interrupted.
///
/// No PIN is sent or asked about: SELECT and READ BINARY are all that a card gets.
package struct OpenFileDumper {
    private let session: ISO7816Session
    private let identity: CardIdentity
    private let earlier: CardDump?
    private let plan: [OpenFile]

    /// A dumper of the card behind a session.
    ///
    /// - Parameters:
    ///   - identity: what the reader learnt of the card.
    ///   - earlier: an incomplete dump of the same card; the files that it holds whole are not read again.
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

    /// Whether `dump` is of a card with this identity. The PUPI of most cards of type B, and UIDs that begin with 08, are
    /// chosen anew each time and tell nothing.
    package static func isSameCard(_ dump: CardDump, _ identity: CardIdentity) -> Bool {
        guard dump.card.technology == identity.technology else { return false }
        let isRandom = identity.uid.map { $0.count == 4 && $0.first == 0x08 } ?? true
        return (isRandom || dump.card.uid == identity.uid) && dump.card.ats == identity.ats
            && dump.card.applicationData == identity.applicationData
            && dump.card.protocolInfo == identity.protocolInfo
    }

    /// Reads the card; what was read before an interruption is in the dump, and what was not is in its `missing`.
    package func dump() -> CardDumper.Result {
        var applications: [ApplicationDump] = []
        var missing: [MissingPart] = []
        var interruption: ReadingError?
        var groups: [[OpenFile]] = []
        for file in plan {
            if var group = groups.popLast() {
                guard group.first?.application == file.application else {
                    groups += [group, [file]]
                    continue
                }
                group.append(file)
                groups.append(group)
            } else {
                groups.append([file])
            }
        }
        for group in groups {
            guard let first = group.first else { continue }
            let aid = first.application
            let before = earlier?.application(aid)
            if interruption != nil {
                if let before { applications.append(before) }
                missing.append(MissingPart(application: aid, reason: interruption?.word ?? ""))
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
        // What an earlier dump holds beside the plan is kept.
        let planned = Set(plan.map(\.application))
        dump.applications += (earlier?.applications ?? []).filter { !planned.contains($0.aid) }
        return CardDumper.Result(dump: dump, interruption: interruption)
    }
}

/// A file that anybody may read; the facts are rows of `Data/open-files.tsv`.
package struct OpenFile: Hashable, Sendable {
    /// The application; `nil` for the master file.
    package let application: AID?
    /// The file; `nil` where another file names it.
    package let file: FileIdentifier?
    /// How far to read.
    package let length: Length
    /// What it is.
    package let name: LocalizedText

    /// How far to read a file.
    package enum Length: Hashable, Sendable {
        /// So many bytes, or to its end.
        case bytes(Int)
        /// As far as the BER-TLV object at its start says.
        case dataObject
        /// As far as the two bytes at its start say.
        case counted
        /// The NDEF files that the Capability Container names.
        case ndef
    }

    init(_ row: FactRow) throws(FactTableError) {
        if let text = try row.text("application") {
            guard let aid = AID(hexadecimal: text) else { throw row.fault("application", .notANumber) }
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

    /// What is wrong in the table; a release has no faults.
    package static var faults: [FactTableError] { table.faults }

    private static let table = FactTable(
        PackageResources.open_files_tsv, columns: ["application", "file", "length", "english", "japanese"],
        key: ["application", "file"], row: OpenFile.init(_:))
}
