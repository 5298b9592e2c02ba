// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import PN53xReader
import ReaderCore
import Synchronization
import TestSupport
import Testing
import VirtualReader

/// Identity documents: what their files cost on air, against what their APDUs alone would take at 424 kbit/s.
extension GoalFigureTests {
    /// A document, and how it is read.
    struct Document: CustomTestStringConvertible {
        let name: String
        let card: [UInt8]
        let request: ActivationRequest
        let read: (ISO7816Session, PICC) throws -> Void

        var testDescription: String { name }
    }

    /// What it cost, and the bytes of all commands and answers.
    struct DocumentCost: CustomStringConvertible {
        var cost = Cost()
        var apdus = 0
        var bytes = 0

        /// Milliseconds that the bytes would take at 424 kbit/s in one frame, with a parity bit each.
        var sum: Double { Double(bytes) * 9 / 423.75 }
        var ratio: Double { cost.air / sum }

        var description: String {
            func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
            return "\(apdus) APDUs, \(bytes) bytes, \(cost.frames) frames, air and card \(number(cost.air)), "
                + "line \(number(cost.line)) ms, \(number(ratio)) of the bytes at 424 kbit/s"
        }
    }

    /// Bytes that no one could guess.
    private static func noise(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 424)
        return (0..<count).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    /// A card file with another way of selection, and with other bytes in some file.
    private static func file(
        _ name: String, selection: String, replacing old: String? = nil, by data: [UInt8] = []
    ) throws -> [UInt8] {
        var text = String(decoding: try TestFiles.read("Fixtures/iso7816/\(name).json"), as: UTF8.self)
        let start = try #require(text.firstRange(of: "\"typeB\""))
        let end = try #require(text[start.lowerBound...].firstRange(of: "}"))
        text.replaceSubrange(start.lowerBound..<end.upperBound, with: selection)
        if let old {
            let place = try #require(text.firstRange(of: old))
            let rest = try #require(text[place.lowerBound...].firstRange(of: "\""))
            text.replaceSubrange(
                place.lowerBound..<rest.lowerBound,
                with: data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
        return Array(text.utf8)
    }

    /// TA(1) 77 or 00; frames of 256 bytes.
    private static func typeA(_ rates: String) -> String {
        #""typeA":{"uid":"04517ce1ed2580","ats":"0578\#(rates)8102"}"#
    }
    private static let typeB = #""typeB":{"pupi":"e8253eec","protocolInfo":"b38181"}"#

    static func documents() throws -> [Document] {
        let photo = noise(15_000)
        let group = [0x75, 0x82, UInt8(photo.count >> 8), UInt8(truncatingIfNeeded: photo.count)] + photo
        let key = try #require(PassportKey("SP1234567,800405,360614"))
        let number = try #require(ResidenceNumber("AA12345678BB"))
        let passport = { (session: ISO7816Session, picc: PICC) in
            var reader = try PassportReader(session, picc.identity) { Self.noise($0) }
            reader.unlock(.zone(key))
            let dump = reader.finish()
            #expect(reader.error == nil)
            #expect(dump.applications.flatMap(\.files).contains { $0.data == group })
        }
        let residence = { (session: ISO7816Session, picc: PICC) in
            var reader = try ResidenceReader(session, picc.identity) { Self.noise($0) }
            reader.unlock(number)
            let dump = reader.finish()
            #expect(reader.error == nil)
            #expect(dump.applications.flatMap(\.files).allSatisfy { $0.state == .read })
        }
        var documents: [Document] = []
        // EF.ATR/INFO with answers of up to 2,048 bytes.
        let announced = #""masterFile":{"files":{"2F01":"7f66080202200002020800"}},"#
        for (name, selection, request) in [
            ("type A, 848 kbit/s", typeA("77"), ActivationRequest.typeA()),
            ("type A, 106 kbit/s", typeA("00"), .typeA()),
            ("type B", typeB, .typeB()),
            ("type A, 848 kbit/s, extended lengths", announced + typeA("77"), .typeA()),
            ("type B, extended lengths", announced + typeB, .typeB()),
        ] {
            documents.append(
                Document(
                    name: "passport with a photo of 15 kB, \(name)",
                    card: try file("passport/card", selection: selection, replacing: "7582081b", by: group),
                    request: request, read: passport))
            // Residence cards are asked for whole files anyway, and have a master file.
            guard !selection.hasPrefix(announced) else { continue }
            documents.append(
                Document(
                    name: "residence card with all pictures, \(name)",
                    card: try file("residence/second", selection: selection), request: request, read: residence))
        }
        return documents
    }

    /// - Parameter record: receives the lines of a recording of that.
    static func cost(_ document: Document, record: ((String) -> Void)? = nil) throws -> DocumentCost {
        let field = try VirtualField(cardFile: document.card)
        let server = try PN532Server(field: field)
        defer { server.stop() }
        let opened = try #require(
            try PN532Driver(patience: 60).open("pn532:\(server.path)", cancellation: CancellationToken()))
        let tally = Mutex(DocumentCost())
        let written = record.map { RecordingReader(opened, write: $0) } ?? opened
        let reader = RecordingReader(written) { entry in
            guard case .transceive(let command, _, let answer) = entry.event else { return }
            tally.withLock {
                $0.apdus += 1
                $0.bytes += command.count + ((try? answer.get())?.count ?? 0)
            }
        }
        let picc = try #require(try reader.activate(document.request))
        try document.read(ISO7816Session(reader: reader, picc: picc, request: document.request), picc)
        reader.close()
        server.stop()
        var cost = tally.withLock { $0 }
        cost.cost.frames = field.statistics.exchanges
        cost.cost.air = field.statistics.time / .milliseconds(1)
        cost.cost.line = server.statistics.lineTime / .milliseconds(1)
        return cost
    }

    /// What cards of type A support is used, in the frames of the chip.
    @Test func documentsAtHigherRates() throws {
        for document in try Self.documents() where document.name.contains("848") {
            let cost = try Self.cost(document)
            #expect(cost.ratio <= 1.3, "\(document.name): \(cost)")
            #expect(try Self.cost(document).description == cost.description)
        }
    }

    static func printDocuments() throws {
        for document in try documents() { print("\(document.name): \(try cost(document))") }
    }
}
