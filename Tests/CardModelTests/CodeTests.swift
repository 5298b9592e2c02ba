// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Codes of four digits, IDm and PMm.
struct CodeTests {
    struct Text: Sendable {
        let text: String
        let value: UInt16?
    }

    static let texts = [
        Text(text: "090F", value: 0x090F), Text(text: "090f", value: 0x090F), Text(text: "fe00", value: 0xFE00),
        Text(text: "3", value: 3), Text(text: "0", value: 0), Text(text: "0x3", value: 3),
        Text(text: "0X12fc", value: 0x12FC),
        Text(text: "FFFF", value: 0xFFFF), Text(text: "", value: nil), Text(text: "0x", value: nil),
        Text(text: "x3", value: nil),
        Text(text: "00003", value: nil), Text(text: "0x00003", value: nil), Text(text: "0x0x1", value: nil),
        Text(text: " 3", value: nil), Text(text: "3 ", value: nil), Text(text: "00:03", value: nil),
        Text(text: "-1", value: nil),
        Text(text: "+1", value: nil), Text(text: "G", value: nil), Text(text: "３", value: nil),
        Text(text: "か", value: nil),
    ]

    @Test(arguments: texts) func codesFromText(_ test: Text) {
        #expect(SystemCode(test.text)?.rawValue == test.value)
        #expect(ServiceCode(test.text[...])?.rawValue == test.value)
    }

    @Test func codesComeBackFromTheirText() {
        for value in UInt16.min...UInt16.max {
            let code = NodeCode(rawValue: value)
            let text = code.description
            guard text.utf8.count == 4, text == text.uppercased(), NodeCode(text) == code else {
                Issue.record("\(value) is written \(text)")
                return
            }
        }
        #expect("\(SystemCode(rawValue: 0x3))" == "0003")
        #expect(KeyVersion(rawValue: 0xAB).description == "00AB")
    }

    @Test func codesAreOrderedByNumber() {
        let codes = [0x1000, 0x000F, 0xFFFF, 0].map { AreaCode(rawValue: $0) }
        #expect(codes.sorted().map(\.rawValue) == [0, 0x000F, 0x1000, 0xFFFF])
        for code in codes { #expect(!(code < code)) }
    }

    @Test func areas() {
        #expect(AreaCode.root.canHoldSubAreas)
        #expect(AreaCode(rawValue: 0x1020).canHoldSubAreas)
        #expect(!AreaCode(rawValue: 0x1001).canHoldSubAreas)
        #expect(!AreaCode(rawValue: 0x1021).canHoldSubAreas)
        #expect(AreaCode(rawValue: 0x1001).node == NodeCode(rawValue: 0x1001))
        #expect(NodeCode.system.description == "FFFF")
    }

    @Test func namedSystems() {
        let named: [(SystemCode, String)] = [
            (.any, "FFFF"), (.transit, "0003"), (.commonArea, "FE00"), (.ndef, "12FC"), (.lite, "88B4"),
            (.secureID, "957A"), (.octopus, "8008"), (.shenzhenTong, "8005"),
        ]
        for (code, text) in named { #expect(code.description == text) }
    }

    static let id: [UInt8] = [0x31, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x9A]

    @Test func idm() throws {
        let idm = try #require(IDm(Self.id))
        #expect(idm.rawValue == 0x3101_0312_3456_789A)
        #expect(idm.bytes == Self.id)
        #expect(idm.description == "310103123456789a")
        #expect(idm.systemNumber == 3)
        #expect(idm.inSystem(0).description == "010103123456789a")
        #expect(idm.inSystem(15).description == "f10103123456789a")
        #expect(idm.inSystem(0xF2).description == "210103123456789a")
        #expect(idm.isSameCard(as: idm.inSystem(7)))
        #expect(!idm.isSameCard(as: IDm(rawValue: 0x3101_0312_3456_789B)))
        #expect(!idm.isSameCard(as: IDm(rawValue: 0x3201_0312_3456_789A)))
        #expect(IDm(rawValue: 0).description == "0000000000000000")
    }

    @Test func pmm() throws {
        let pmm = try #require(PMm([0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF] as [UInt8]))
        #expect(pmm.rawValue == 0x0120_2204_2767_4EFF)
        #expect(pmm.romType == 0x01)
        #expect(pmm.icType == 0x20)
        #expect(pmm.bytes == [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF])
        #expect(pmm.description == "0120220427674eff")
    }

    @Test(arguments: [0, 1, 7, 9, 16]) func onlyEightBytesMakeAnID(_ count: Int) {
        let bytes = [UInt8](repeating: 0xFF, count: count)
        #expect(IDm(bytes) == nil)
        #expect(PMm(bytes) == nil)
    }

    @Test func languages() {
        let text = LocalizedText("card", "カード")
        #expect(text[.english] == "card")
        #expect(text[.japanese] == "カード")
        #expect(Language.allCases.map(\.rawValue) == ["en", "ja"])
    }
}
