// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import TestSupport
import Testing

@Suite("ATRs and historical bytes")
struct ActivationTests {
    /// PM1 and PM2: My Number cards behind contactless readers (OpenSC pull request 3744).
    @Test func myNumberCards() throws {
        let first = try #require(ATR(Hex.decode("3B 88 80 01 00 00 05 E0 B3 81 A1 00 7F")))
        #expect(first.isChecksumRight)
        #expect(first.tck == 0x7F)
        #expect(first.protocols == [0, 1])
        guard case .isoDEP(_, let fields?)? = first.contactless else {
            Issue.record("no type B")
            return
        }
        #expect(fields.applicationData == [0x00, 0x00, 0x05, 0xE0])
        #expect(fields.protocolInfo == [0xB3, 0x81, 0xA1])
        #expect(fields.mbli == 0)
        let second = try #require(ATR(Hex.decode("3B 88 80 01 00 4B 51 FF 00 81 D1 00 BC")))
        #expect(second.isChecksumRight)
        guard case .isoDEP(let historical, let other?)? = second.contactless else {
            Issue.record("no type B")
            return
        }
        #expect(historical == [0x00, 0x4B, 0x51, 0xFF, 0x00, 0x81, 0xD1, 0x00])
        #expect(other.applicationData == [0x00, 0x4B, 0x51, 0xFF])
        #expect(other.protocolInfo == [0x00, 0x81, 0xD1])
    }

    /// The virtual card of vsmartcard: a contact card with card capabilities.
    @Test func contactCard() throws {
        let atr = try #require(ATR(Hex.decode("3B 95 13 81 01 80 73 FF 01 00 0B")))
        #expect(atr.interfaceBytes == [0x13, 0x81, 0x01])
        #expect(atr.protocols == [1, 1])
        #expect(atr.contactless == nil)
        #expect(atr.isChecksumRight)
        #expect(atr.historicalBytes.objects == [CompactTLV(7, [0xFF, 0x01, 0x00])])
        let capabilities = try #require(atr.historicalBytes.capabilities)
        #expect(!capabilities.extendedLength && !capabilities.chaining)
    }

    static let storage: [(text: String, card: ContactlessATR)] = [
        ("3B8F8001804F0CA0000003060300030000000068", .storageCard(standard: 0x03, product: 0x0003)),
        ("3B8F8001804F0CA000000306030001000000006A", .storageCard(standard: 0x03, product: 0x0001)),
        ("3B8F8001804F0CA00000030611003B0000000042", .storageCard(standard: 0x11, product: 0x003B)),
        ("3B8180018080", .isoDEP(historicalBytes: [0x80], ifTypeB: nil)),
        ("3B80800101", .isoDEP(historicalBytes: [], ifTypeB: nil)),
    ]

    @Test(arguments: storage) func contactlessCards(_ row: (text: String, card: ContactlessATR)) throws {
        let atr = try #require(ATR(Hex.decode(row.text)))
        #expect(atr.contactless == row.card)
        #expect(atr.isChecksumRight)
    }

    @Test(arguments: ["", "3B", "3C00", "3B81", "3B8180", "3B818001", "3B01", "3B00AA", "3B8180018080AA", "3B0000AA"])
    func noATR(_ text: String) throws {
        let atr = ATR(try Hex.decode(text))
        if text == "3B00AA" {
            // A check byte too many is read as one, and found wrong.
            #expect(atr?.isChecksumRight == false)
        } else {
            #expect(atr == nil)
        }
    }

    @Test func wrongChecksums() throws {
        #expect(ATR(try Hex.decode("3B8180018081"))?.isChecksumRight == false)
        #expect(ATR(try Hex.decode("3B81800180"))?.isChecksumRight == false, "none where there must be one")
        #expect(ATR(try Hex.decode("3B00"))?.isChecksumRight == true, "none where there is none")
    }

    @Test func historicalBytes() throws {
        let withStatus = HistoricalBytes(try Hex.decode("00 31 80 73 80 01 C0 05 90 00"))
        #expect(withStatus.value(of: 3) == [0x80])
        #expect(withStatus.capabilities.map { [$0.extendedLength, $0.chaining] } == [true, true])
        #expect(withStatus.lifeCycle == 5)
        #expect(withStatus.status == .success)
        let inObject = HistoricalBytes(try Hex.decode("80 31 80 82 90 00"))
        #expect(inObject.status == 0x9000 && inObject.lifeCycle == nil)
        #expect(HistoricalBytes(try Hex.decode("80 81 07")).lifeCycle == 7)
        #expect(HistoricalBytes(try Hex.decode("80 83 07 62 83")).status == 0x6283)
        let own = HistoricalBytes(try Hex.decode("C1 05 21 30"))
        #expect(own.objects.isEmpty && own.category == 0xC1 && own.capabilities == nil)
        #expect(HistoricalBytes([]).category == nil)
        #expect(HistoricalBytes([0x80, 0x31, 0x80, 0x73, 0x01]).objects.count == 1, "the broken one is left out")
    }

    @Test func anyBytes() {
        var generator = SeededGenerator(seed: 14443)
        for _ in 0..<20_000 {
            var bytes: [UInt8] = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                .random(in: 0...255, using: &generator)
            }
            if !bytes.isEmpty { bytes[0] = 0x3B }
            if let atr = ATR(bytes) {
                #expect(atr.bytes.count <= 33 || atr.interfaceBytes.isEmpty || atr.contactless == nil)
            }
            #expect(HistoricalBytes(bytes).objects.reduce(0) { $0 + 1 + $1.value.count } <= bytes.count)
        }
    }
}
