// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel
internal import CardReading
internal import ISO7816
internal import ReaderCore

extension Card {
    /// Reads an identity document.
    ///
    /// - Parameters:
    ///   - make: reads what is free.
    ///   - open: presents what opens the rest.
    ///   - complete: adds to the report what is not in the dump.
    func read<Reading: IdentityReader, Report: IdentityDocument>(
        _ kind: CardQuery.Kind, _ make: (ISO7816Session, CardIdentity) throws(FileCardReadingError) -> Reading,
        _ open: (inout Reading) -> Void, _ complete: (inout Report, Reading) -> Void = { _, _ in }
    ) throws(KazasuError) -> FileCardResult<Report> {
        let session = try apdus()
        do throws(FileCardReadingError) {
            var reading = try make(session, identity)
            open(&reading)
            let dump = reading.finish()
            guard reading.error != .otherCard, var report = Report.decode(dump) else { throw .otherCard }
            complete(&report, reading)
            return FileCardResult(report: report, dump: dump, error: reading.error.map(KazasuError.init))
        } catch .otherCard {
            throw .wrongCard(reader.wrongCard(found, wanted: kind))
        } catch {
            throw KazasuError(error)
        }
    }
}

/// What was read of an identity document.
public struct FileCardResult<Report: Hashable & Sendable>: Hashable, Sendable {
    /// The contents as far as they were read, with the tries left of each PIN.
    public let report: Report
    /// The same as a dump, which never contains a PIN.
    public let dump: CardDump
    /// Why reading ended early, or why a PIN was not sent or not accepted; `nil` if everything succeeded.
    public let error: KazasuError?

    /// Returns the report if everything succeeded.
    ///
    /// - Throws: ``error``.
    public func get() throws(KazasuError) -> Report {
        if let error { throw error }
        return report
    }
}

extension KazasuError {
    /// Converts to an error of this layer; a cancellation stays a cancellation.
    fileprivate init(_ error: FileCardReadingError) {
        self = error == .card(.transport(.cancelled)) ? .cancelled : .fileCard(error)
    }
}

extension FileCardResult where Report: IdentityDocument {
    /// A document about the card.
    func document(_ members: JSONObject) -> String {
        let card = DecodedCard(identity: dump.card, kind: Report.kind, brand: nil)
        var document = JSONObject([("schema", .string(Report.schema)), ("card", JSONValue { card.write(to: &$0) })])
        document.merge(members)
        return JSONValue.object(document).prettyText + "\n"
    }
}
