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

    // MARK: ISO 7816

    /// ISO/IEC 7816-4, 5.4.2, as far as Kazasu names it; a pair of codes is an even and an odd instruction.
    static let instructions = """
        20 VERIFY | 21 VERIFY | 22 MANAGE SECURITY ENVIRONMENT | 24 CHANGE REFERENCE DATA | 25 CHANGE REFERENCE DATA
        26 DISABLE VERIFICATION REQUIREMENT | 28 ENABLE VERIFICATION REQUIREMENT | 2A PERFORM SECURITY OPERATION
        2C RESET RETRY COUNTER | 2D RESET RETRY COUNTER | 70 MANAGE CHANNEL | 82 EXTERNAL AUTHENTICATE
        84 GET CHALLENGE | 86 GENERAL AUTHENTICATE | 87 GENERAL AUTHENTICATE | 88 INTERNAL AUTHENTICATE | A4 SELECT
        B0 READ BINARY | B1 READ BINARY | B2 READ RECORD | B3 READ RECORD | C0 GET RESPONSE | C2 ENVELOPE | C3 ENVELOPE
        CA GET DATA | CB GET DATA | D0 WRITE BINARY | D1 WRITE BINARY | D6 UPDATE BINARY | D7 UPDATE BINARY
        DC UPDATE RECORD
        """

    @Test func everyInstructionHasItsName() {
        let named = (UInt8.min...UInt8.max).map(Instruction.init(rawValue:)).compactMap { instruction in
            instruction.name.map { "\(instruction) \($0)" }
        }
        #expect(named == Self.instructions.replacing("\n", with: " | ").split(separator: " | ").map(String.init))
    }

    /// Every status word, by its four digits.
    @Test func statusWordProperties() {
        var wrong: [StatusWord] = []
        for value in UInt16.min...UInt16.max {
            let word = StatusWord(rawValue: value)
            let text = word.description
            let (class1, last) = (text.prefix(2), Int(value % 256))
            let isRight =
                StatusWord(UInt8(value / 256), UInt8(value % 256)) == word && word.sw1 == value / 256
                && word.sw2 == value % 256 && word.isSuccess == (text == "9000" || class1 == "61")
                && word.isWarning == (class1 == "62" || class1 == "63")
                && word.bytesAvailable == (class1 == "61" ? (last == 0 ? 256 : last) : nil)
                && word.correctLength == (class1 == "6C" ? (last == 0 ? 256 : last) : nil)
                && word.counter == (text.hasPrefix("63C") ? last % 16 : nil)
                && word.isValid == (text.first == "9" || text.first == "6" && class1 != "60")
            if !isRight { wrong.append(word) }
        }
        #expect(wrong.isEmpty)
        let named: [(StatusWord, String)] = [
            (.success, "9000"), (.endOfFile, "6282"), (.fileDeactivated, "6283"), (.wrongLength, "6700"),
            (.securityStatusNotSatisfied, "6982"), (.authenticationBlocked, "6983"), (.referenceDataUnusable, "6984"),
            (.fileNotFound, "6A82"), (.recordNotFound, "6A83"), (.wrongParameters, "6B00"),
        ]
        for (word, text) in named { #expect(word.description == text) }
    }

    @Test func identifiersOfApplicationsAndFiles() {
        #expect([0, 1, 16, 17].map { AID([UInt8](repeating: 1, count: $0)) != nil } == [false, true, true, false])
        #expect(FileIdentifier.masterFile.description == "3F00")
    }

    /// The files of a license: application, identifier, length, and the PINs that they need. Sizes and PINs are those
    /// of the specification (hmpow/JpDrvLicNfcCommand, TRETJapanNFCReader); the lengths of fields add up to them.
    static let licenseFiles = """
        commonData -- 2F01 17 free
        pinSetting -- 000A 3 free
        matters 3101 0001 880 pin1
        domicile 3101 0002 82 bothPINs
        externalCharacters 3101 0003 264 pin1
        laterEntries 3101 0004 640 pin1
        laterExternalCharacters 3101 0005 663 pin1
        laterDomicile 3101 0006 256 bothPINs
        signature 3101 0007 578 pin1
        photo 3102 0001 2005 bothPINs
        myNumberPINSetting 3106 001A 3 free
        myNumberMatters 3106 001B 5845 pin1
        myNumberSignature 3106 001C 584 pin1
        """

    @Test func filesOfALicense() {
        let rows = LicenseFile.allCases.map { file in
            let application = file.application?.description.dropFirst(8).prefix(4) ?? "--"
            return "\(file) \(application) \(file.id) \(file.longest) \(file.access)"
        }
        #expect(rows.joined(separator: "\n") == Self.licenseFiles)
        #expect(LicenseKind.license.files.count == 10 && LicenseKind.myNumberLicense.files.count == 3)
        #expect(LicenseKind.license.files == Array(LicenseFile.allCases.prefix(10)))
        #expect(LicenseKind.license.pins == [.pin1, .pin2])
        #expect(LicenseKind.myNumberLicense.pins == [.myNumberLicense])
        let pins = LicensePIN.allCases.map { "\($0.file) \($0.application?.description ?? "MF")" }
        #expect(pins == ["0001 MF", "0002 MF", "0006 a0000002310600000000000000000000"])
    }

    /// The files and PINs of a My Number card (jpki/myna, OpenSC).
    @Test func filesOfAMyNumberCard() {
        let files = MyNumberFile.allCases.map { "\($0) \($0.application) \($0.id) \($0.longest) \($0.isPersonal)" }
        #expect(
            files == [
                "token jpki 0006 32 false", "authenticationCertificate jpki 000A 16384 true",
                "authenticationCA jpki 000B 16384 false", "signatureCertificate jpki 0001 16384 true",
                "signatureCA jpki 0002 16384 false", "attributes cardInput 0002 4096 true",
                "cardInputInformation cardInput 0005 1024 false", "cardInputCertificate cardInput 0004 1024 true",
                "faceCertificate cardSurface 0004 1024 true", "face cardSurface 0002 32768 true",
            ])
        #expect(
            MyNumberFile.allCases.map(\.pin) == [
                nil, nil, nil, .signature, nil, .cardInput, nil, nil, nil, .cardSurfaceNumberB,
            ])
        let pins = MyNumberPIN.allCases.map { "\($0) \($0.application) \($0.file)" }
        #expect(
            pins == [
                "authentication jpki 0018", "signature jpki 001B", "cardInput cardInput 0011",
                "cardInputNumberA cardInput 0014", "cardInputNumberB cardInput 0015",
                "cardSurfaceNumberA cardSurface 0013", "cardSurfaceNumberB cardSurface 0012",
                "cardSurfaceBirth cardSurface 0011",
            ])
        #expect(MyNumberApplication.allCases.allSatisfy { $0.aid?.bytes.count == 10 })
    }

    @Test func languages() {
        let text = LocalizedText("card", "カード")
        #expect(text[.english] == "card")
        #expect(text[.japanese] == "カード")
        #expect(Language.allCases.map(\.rawValue) == ["en", "ja"])
    }
}
