// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

/// Vectors B3 of commands that every standard card knows: nfcpy `test_tag_tt3.py`, `test_tag_tt3_sony.py`;
/// felica-tool `SearchServiceCodeCommandTest`.
@Suite struct PlainCommandTests {
    static func node(_ code: UInt16) -> NodeCode { NodeCode(rawValue: code) }

    // MARK: Request Service

    @Test func requestServicePacket() throws {
        let command = RequestService([Self.node(0x0009), Self.node(0x0049)])
        #expect(try command.packet(for: testIDm) == packet("0F02<I>0209004900"))
        #expect(try RequestService([Self.node(0x0A00)]).packet(for: testIDm) == packet("0D02<I>01000A"))
    }

    @Test func requestServiceAnswer() throws {
        let both = RequestService([Self.node(0x0009), Self.node(0x0049)])
        #expect(try answer(to: both, "0F03<I>0201001100") == [KeyVersion(rawValue: 1), KeyVersion(rawValue: 0x11)])
        #expect(try answer(to: RequestService([Self.node(0x0A00)]), "0D03<I>01FFFF") == [nil])
    }

    @Test(arguments: [
        ("0E03<I>01000000", FeliCaError.Reason.trailingBytes(extra: 1)),
        ("0D03<I>020000", .count(expected: 1, received: 2)),
        ("0B03<I>00", .count(expected: 1, received: 0)),
        ("0C03<I>0100", .tooShort(missing: 1)),
        ("0B03<I>01", .tooShort(missing: 2)),
        ("0A03<I>", .tooShort(missing: 1)),
    ])
    func requestServiceBadAnswer(_ text: String, _ flaw: FeliCaError.Reason) throws {
        let error = try refusal(of: RequestService([Self.node(0x0009)]), text)
        #expect(error == .malformed(.requestService, flaw))
    }

    @Test(arguments: [0, 33, 300]) func requestServiceLimits(_ count: Int) throws {
        let channel = RecordingChannel([])
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        #expect(throws: FeliCaError.invalidArgument(.count(.nodes, count, allowed: 1...32))) {
            try system.send(RequestService([NodeCode](repeating: .system, count: count)))
        }
        #expect(throws: FeliCaError.invalidArgument(.count(.nodes, count, allowed: 1...32))) {
            try system.requestServiceV2([NodeCode](repeating: .system, count: count))
        }
        #expect(channel.sent.isEmpty)
    }

    @Test func requestServiceOfManyNodes() throws {
        let answers = [("4B", 32), ("4B", 32), ("11", 3)].map { length, count in
            "\(length)03<I>\(count == 3 ? "03" : "20")" + String(repeating: "0100", count: count)
        }
        let channel = RecordingChannel(try answers.map { try packet($0) })
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        let versions = try system.requestService([NodeCode](repeating: .system, count: 67))
        #expect(versions == [KeyVersion?](repeating: KeyVersion(rawValue: 1), count: 67))
        #expect(channel.sent.map { $0[10] } == [32, 32, 3])
        #expect(throws: FeliCaError.invalidArgument(.count(.nodes, 0, allowed: 1...32))) {
            try system.requestService([])
        }
    }

    // MARK: Request Response

    @Test func requestResponse() throws {
        #expect(try RequestResponse().packet(for: testIDm) == packet("0A04<I>"))
        for mode in CardMode.allCases {
            let channel = RecordingChannel([try packet("0B05<I>0\(mode.rawValue)")])
            let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: .max))
            #expect(try system.requestResponse() == mode)
        }
    }

    @Test(arguments: [0x04, 0xFF] as [UInt8]) func requestResponseUnknownMode(_ mode: UInt8) throws {
        let error = try refusal(of: RequestResponse(), "0B05<I>" + (mode == 4 ? "04" : "FF"))
        #expect(error == .malformed(.requestResponse, .value(.mode, UInt16(mode))))
    }

    // MARK: Search Service Code

    @Test(arguments: [
        (0x0000 as UInt16, "0C0A<I>0000"), (0x0001, "0C0A<I>0100"), (0x1000, "0C0A<I>0010"), (0x0100, "0C0A<I>0001"),
    ])
    func searchServiceCodePacket(_ index: UInt16, _ text: String) throws {
        #expect(try SearchServiceCode(index: index).packet(for: testIDm) == packet(text))
    }

    static let searched: [(answer: String, node: SearchedNode?)] = [
        ("0E0B<I>0000FEFF", .area(AreaRange(start: .root, end: AreaCode(rawValue: 0xFFFE)))),
        ("0C0B<I>0900", .service(ServiceCode(rawValue: 0x0009))),
        ("0C0B<I>FFFF", nil),
        ("0C0B<I>8855", .service(ServiceCode(rawValue: 0x5588))),
        ("0E0B<I>8055BF56", .area(AreaRange(start: AreaCode(rawValue: 0x5580), end: AreaCode(rawValue: 0x56BF)))),
        ("0E0B<I>8155BF56", .area(AreaRange(start: AreaCode(rawValue: 0x5581), end: AreaCode(rawValue: 0x56BF)))),
    ]

    @Test(arguments: 0..<searched.count) func searchServiceCodeAnswer(_ row: Int) throws {
        let vector = Self.searched[row]
        let channel = RecordingChannel([try packet(vector.answer)])
        let system = FeliCaSystem(channel: channel, idm: testIDm, pmm: PMm(rawValue: 0))
        #expect(try system.searchServiceCode(index: 0) == vector.node)
    }

    @Test(arguments: [
        ("0A0B<I>", FeliCaError.Reason.tooShort(missing: 2)),
        ("0B0B<I>09", .tooShort(missing: 1)),
        ("0D0B<I>000000", .tooShort(missing: 1)),
        ("0F0B<I>0000FEFF00", .trailingBytes(extra: 1)),
    ])
    func searchServiceCodeBadAnswer(_ text: String, _ flaw: FeliCaError.Reason) throws {
        let error = try refusal(of: SearchServiceCode(index: 0), text)
        #expect(error == .malformed(.searchServiceCode, flaw))
    }

    @Test func areaContainsTheCodesInItsRange() {
        let area = AreaRange(start: AreaCode(rawValue: 0x5581), end: AreaCode(rawValue: 0x56BF))
        #expect(area.contains(Self.node(0x5588)))
        #expect(area.contains(Self.node(0x5580)))
        #expect(area.contains(Self.node(0x56BF)))
        #expect(!area.contains(Self.node(0x557F)))
        #expect(!area.contains(Self.node(0x56C0)))
        let root = AreaRange(start: .root, end: AreaCode(rawValue: 0xFFFE))
        #expect(root.contains(.system))
        let reversed = AreaRange(start: AreaCode(rawValue: 0x5580), end: .root)
        #expect(reversed.contains(Self.node(0x5588)))
        #expect(!reversed.contains(Self.node(0x0000)))
    }

    // MARK: Request System Code

    @Test func requestSystemCode() throws {
        #expect(try RequestSystemCode().packet(for: testIDm) == packet("0A0C<I>"))
        let two = try answer(to: RequestSystemCode(), "0F0D<I>02000012FC")
        #expect(two == [SystemCode(rawValue: 0x0000), .ndef])
        let three = try answer(to: RequestSystemCode(), "110D<I>030003FE008FC1")
        #expect(three == [.transit, .commonArea, SystemCode(rawValue: 0x8FC1)])
        #expect(try answer(to: RequestSystemCode(), "0B0D<I>00").isEmpty)
    }

    @Test(arguments: [
        ("0F0D<I>03000012FC", FeliCaError.Reason.tooShort(missing: 2)),
        ("0F0D<I>01000012FC", .trailingBytes(extra: 2)),
        ("0B0D<I>FF", .tooShort(missing: 2)),
    ])
    func requestSystemCodeBadAnswer(_ text: String, _ flaw: FeliCaError.Reason) throws {
        let error = try refusal(of: RequestSystemCode(), text)
        #expect(error == .malformed(.requestSystemCode, flaw))
    }

    @Test func rejectsAnAnswerOfAnotherSystem() throws {
        let error = try refusal(of: RequestSystemCode(), "0F0D110203040506070802000012FC")
        #expect(error == .malformed(.requestSystemCode, .idm(testIDm.inSystem(1))))
    }
}
