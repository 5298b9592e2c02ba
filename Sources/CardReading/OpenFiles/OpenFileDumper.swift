// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import ISO7816
internal import NDEF
internal import NFCTransport

/// Reads the files of an ISO 7816 card that anybody may read, and goes on with a dump that was interrupted.
///
/// No PIN is sent or asked about: SELECT and READ BINARY are all that a card gets.
public struct OpenFileDumper {
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
    public init(
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
    public static func isSameCard(_ dump: CardDump, _ identity: CardIdentity) -> Bool {
        guard dump.card.technology == identity.technology else { return false }
        let isRandom = identity.uid.map { $0.count == 4 && $0.first == 0x08 } ?? true
        return (isRandom || dump.card.uid == identity.uid) && dump.card.ats == identity.ats
            && dump.card.applicationData == identity.applicationData
            && dump.card.protocolInfo == identity.protocolInfo
    }

    /// Reads the card; what was read before an interruption is in the dump, and what was not is in its `missing`.
    public func dump() -> CardDumper.Outcome {
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
        return CardDumper.Outcome(dump: dump, interruption: interruption)
    }
}
