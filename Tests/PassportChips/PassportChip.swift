// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
internal import CardDecoders
internal import CardModel
internal import CardReading
internal import CardVerification
internal import ISO7816
package import ReaderCore
internal import TestSupport
package import VirtualReader

/// A virtual chip for each row of `Fixtures/ids/passports/quirks.tsv` about chips, and for the two that need long answers. Any reader
/// can be tested with them.
package struct PassportChip: Sendable, CustomStringConvertible {
    /// The id of the row, or what is long.
    package let name: String
    private let fixture: String
    private let changes: [(String, String)]
    private let key: String
    private let outcome: Outcome

    package var description: String { name }

    /// What reading it gives.
    private enum Outcome: Sendable {
        /// Every file, as an ordinary chip gives it.
        case whole
        /// The machine-readable zone, and nothing that ended the reading.
        case read
        case error(FileCardReadingError)
        /// Active authentication by RSA with 2048 bits: not done where the reader cannot carry the answer.
        case longSignature
        /// PACE by a group of 2048 bits: an error where the reader cannot carry it.
        case longGroup
    }

    private init(
        _ name: String, _ outcome: Outcome, _ changes: [(String, String)] = [], fixture: String = "card",
        key: String = right
    ) {
        (self.name, self.outcome, self.changes, self.fixture, self.key) = (name, outcome, changes, fixture, key)
    }

    private static let right = "SP1234567,800405,360614"
    private static let other = "SP1234568,800405,360614"
    private static let information = #""information": "SP1234567980040593606148""#
    private static let schema = #""schema": "kazasu.card/1","#

    private static func quirk(_ members: String) -> (String, String) {
        (information, information + #", "quirks": {"# + members + "}")
    }

    private static func virtual(_ members: String) -> (String, String) {
        (schema, schema + #" "virtual": {"# + members + "},")
    }

    private static let free = (
        "\"read\": [\n            \"mrz\"\n          ],\n          \"encrypted\": true", "\"read\": \"always\""
    )
    /// EF.ATR/INFO with answers of up to 2,048 bytes.
    private static let announced = (
        "\"applications\": [", #""masterFile": {"files": {"2F01": "7f66080202200002020800"}}, "applications": ["#
    )
    private static let masterFile = ["00A4000C023F00", "00A40000023F0000", "00A4000C", "00A40000"]
        .map { "\"\($0)\": \"6D00\"" }.joined(separator: ", ")
    /// The entry of EF.CardAccess: generic mapping, AES-128, and P-256 or the group of 2048 bits.
    private static let groups = ("04007f0007020204020202010202010d", "04007f00070202040102020102020101")

    /// All of them.
    package static let all = [
        PassportChip("short-reads", .whole, [quirk(#""longestRead": 112, "keepsSession": false"#)]),
        PassportChip(
            "length-correction", .whole,
            [quirk(#""longestRead": 112, "lengthStatus": "6CE7", "keepsSession": false"#)]),
        PassportChip("read-all", .whole, [quirk(#""refusesZero": true"#)]),
        PassportChip("no-extended-length", .whole, [virtual(#""extendedLength": false"#), announced]),
        PassportChip("extended-length", .whole, [announced]),
        PassportChip("cut-length", .whole, [virtual(#""longestAnswer": 600"#), announced]),
        PassportChip("end-warning", .whole, [quirk(#""warnsAtEnd": true"#)]),
        PassportChip("wrong-code", .error(.secure(.malformed(.code))), [quirk(#""spoilsLastCode": true"#)]),
        PassportChip(
            "refusal-words", .error(.wrongPassportKey(nil)), [quirk(#""wrongNumber": "6985""#)], key: other),
        PassportChip("counter", .error(.wrongPassportKey(.count(7))), [quirk(#""tries": 8"#)], key: other),
        PassportChip("open", .whole, [free, virtual(#""statusWords": {"84": "6D00"}"#)]),
        PassportChip("master-file", .whole, [virtual(#""answers": {"# + masterFile + "}")]),
        PassportChip("no-index", .read, [(#""011E": {"#, #""015E": {"#)]),
        PassportChip("other-groups", .read, [("5c026175", "5c026799")]),
        PassportChip("slow", .whole, [virtual(#""waitingTimeExtensions": 8"#)]),
        PassportChip("pace-only", .read, fixture: "pace"),
        PassportChip("RSA-2048", .longSignature, fixture: "chip-active"),
        PassportChip("DH-2048", .longGroup, [groups], fixture: "chip-pace"),
    ]

    /// The rows of the table that no virtual chip imitates.
    private static let withoutChip: Set<String> = ["pace-parameters"]

    /// The rows of the table that have no chip here; there must be none.
    package static func missing() throws -> [String] {
        let table = String(decoding: try TestFiles.read("Fixtures/ids/passports/quirks.tsv"), as: UTF8.self)
        let rows = table.split(separator: "\n").dropFirst(2).map { $0.split(separator: "\t").map(String.init) }
        let wanted = rows.filter { ["chip", "access"].contains($0[1]) }.map { $0[0] }
        return wanted.filter { row in !withoutChip.contains(row) && !all.contains { $0.name == row } }
    }

    /// A field with the chip on it.
    package func field() throws -> VirtualField {
        var text = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/\(fixture).json"), as: UTF8.self)
        for (old, new) in changes {
            guard text.contains(old) else { throw NotInFixture(text: old) }
            text.replace(old, with: new)
        }
        return try VirtualField(cardFile: Array(text.utf8))
    }

    private struct NotInFixture: Error { let text: String }

    // MARK: Reading

    /// Reads it, and says what is not as it has to be; `nil` if everything is.
    ///
    /// - Parameter reader: a reader before the field.
    package func problem(on reader: any Reader) throws -> String? {
        guard let picc = try reader.activate(.typeB()) else { return "no card" }
        let session = ISO7816Session(reader: reader, picc: picc, request: .typeB())
        guard let key = PassportKey(key) else { return "no key" }
        var reading = try PassportReader(session, CardIdentity(picc))
        reading.unlock(.zone(key))
        let dump = reading.finish()
        guard var report = PassportDecoder.decode(dump) else { return "no passport: \(reading.error as Any)" }
        report.evidence = reading.evidence
        let isLong = reader.information.longestResponseAPDU > 0x400
        switch outcome {
        case .whole:
            let plain = try Self.plain()
            let isSame = dump.applications == plain && report.warnings.isEmpty
            return reading.error == nil && isSame ? nil : "\(reading.error as Any), \(report.warnings)"
        case .read:
            let isRead = report.machineReadableZone?.number == "SP1234567" && report.photo != nil
            return reading.error == nil && isRead ? nil : "\(reading.error as Any), \(report.warnings)"
        case .error(let error): return reading.error == error ? nil : "\(reading.error as Any)"
        case .longSignature:
            let authorities = try CertificateAuthorities(
                files: [TestFiles.read("Fixtures/iso7816/passport/chip-authority.der")])
            let signature = try report.signature(of: dump, authorities: authorities)
            let chip = try report.chip(of: dump, signature: signature, authorities: authorities)
            let isRight = isLong ? chip.state == .genuine : chip.state == .notChecked && chip.why == .reader
            return isRight && reading.error == nil ? nil : "\(chip), \(reading.error as Any)"
        case .longGroup:
            guard !isLong else {
                let isOpen = reading.access?.variant == "DH-GM-AES-128" && report.photo != nil
                return isOpen && reading.error == nil ? nil : "\(reading.error as Any)"
            }
            guard case .secure(.card(.transport(let error)))? = reading.error else { return "\(reading.error as Any)" }
            switch error {
            case .frameTooLong, .answerTooLong: return reading.access == nil ? nil : "opened"
            default: return "\(error)"
            }
        }
    }

    /// The files of an ordinary chip.
    private static func plain() throws -> [ApplicationDump] {
        let reader = InProcessReader(try PassportChip("plain", .whole).field())
        guard let picc = try reader.activate(.typeB()), let key = PassportKey(right) else { return [] }
        let session = ISO7816Session(reader: reader, picc: picc, request: .typeB())
        var reading = try PassportReader(session, CardIdentity(picc))
        reading.unlock(.zone(key))
        return reading.finish().applications
    }
}
