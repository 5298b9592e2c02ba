// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

/// Vectors B3 of commands that newer and mobile products know: felica-tool's tests, felica-rs.
@Suite struct MobileCommandTests {
    static func node(_ code: UInt16) -> NodeCode { NodeCode(rawValue: code) }

    static func system(_ idm: IDm, _ text: String) throws -> FeliCaSystem {
        FeliCaSystem(channel: RecordingChannel([try packet(text)]), idm: idm, pmm: PMm(rawValue: .max))
    }

    @Test func resetMode() throws {
        #expect(try ResetMode().packet(for: otherIDm) == packet("0C3E01020304050607FF0000"))
        try Self.system(otherIDm, "0C3F01020304050607FF0000").resetMode()
        let error = try refusal(of: ResetMode(), "0C3F01020304050607FF0102", idm: otherIDm)
        #expect(error == .status(StatusFlags(0x01, 0x02)))
        let longer = try refusal(of: ResetMode(), "0D3F01020304050607FF000000", idm: otherIDm)
        #expect(longer == .malformed(.resetMode, .trailingBytes(extra: 1)))
    }

    @Test func requestProductInformation() throws {
        #expect(try RequestProductInformation().packet(for: otherIDm) == packet("0A3A01020304050607FF"))
        let data = try Self.system(otherIDm, "1C3B01020304050607FF00000F1801020308475001D7007720250110")
            .requestProductInformation()
        #expect(data == (try packet("1801020308475001D7007720250110")))
        let short = try refusal(of: RequestProductInformation(), "0E3B01020304050607FF00000218", idm: otherIDm)
        #expect(short == .malformed(.requestProductInformation, .tooShort(missing: 1)))
    }

    @Test func getContainerIssueInformation() throws {
        #expect(try GetContainerIssueInformation().packet(for: otherIDm) == packet("0C2201020304050607FF0000"))
        let information = try Self.system(otherIDm, "1A2301020304050607FF01020304054142434445464748494A4B")
            .getContainerIssueInformation()
        #expect(information.formatVersionCarrier == [1, 2, 3, 4, 5])
        #expect(information.model == Array("ABCDEFGHIJK".utf8))
        let short = try refusal(
            of: GetContainerIssueInformation(), "192301020304050607FF01020304054142434445464748494A", idm: otherIDm)
        #expect(short == .malformed(.getContainerIssueInformation, .tooShort(missing: 1)))
    }

    @Test(arguments: [(0 as UInt16, "0E1A0123456789ABCDEFFFFF0000"), (0x1234, "0E1A0123456789ABCDEFFFFF3412")])
    func requestCodeListPacket(_ index: UInt16, _ text: String) throws {
        #expect(try RequestCodeList(parent: .system, index: index).packet(for: digitsIDm) == packet(text))
    }

    @Test func requestCodeListAnswer() throws {
        let page = try Self.system(testIDm, "191B<I>000001 01 0000FEFF 03 0900 4900 8900")
            .requestCodeList(parent: .system, index: 1)
        #expect(page.hasMore)
        #expect(page.areas == [AreaRange(start: .root, end: AreaCode(rawValue: 0xFFFE))])
        #expect(page.services.map(\.rawValue) == [0x0009, 0x0049, 0x0089])
        let last = try answer(to: RequestCodeList(parent: .system, index: 2), "0F1B<I>0000000000")
        #expect(!last.hasMore && last.areas.isEmpty && last.services.isEmpty)
    }

    @Test(arguments: [
        ("0C1B<I>FFA5", FeliCaError.status(StatusFlags(0xFF, 0xA5))),
        ("0F1B<I>0000000001", .malformed(.requestCodeList, .tooShort(missing: 2))),
        ("0E1B<I>00000000", .malformed(.requestCodeList, .tooShort(missing: 1))),
        ("101B<I>000000FF0000", .malformed(.requestCodeList, .tooShort(missing: 2))),
        ("101B<I>000000000000", .malformed(.requestCodeList, .trailingBytes(extra: 1))),
    ])
    func requestCodeListRefusals(_ text: String, _ error: FeliCaError) throws {
        #expect(try refusal(of: RequestCodeList(parent: .system, index: 1), text) == error)
    }

    @Test func requestBlockInformation() throws {
        let one = RequestBlockInformation([Self.node(0x0010)])
        #expect(try one.packet(for: digitsIDm) == packet("0D0E0123456789ABCDEF011000"))
        let two = try Self.system(digitsIDm, "0F0F0123456789ABCDEF0210002000")
            .requestBlockInformation([Self.node(0x0010), Self.node(0x0020)])
        #expect(two == [0x0010, 0x0020])
        let error = try refusal(of: one, "0F0F0123456789ABCDEF0210002000", idm: digitsIDm)
        #expect(error == .malformed(.requestBlockInformation, .count(expected: 1, received: 2)))
    }

    @Test func requestBlockInformationEx() throws {
        let one = RequestBlockInformationEx([Self.node(0x0010)])
        #expect(try one.packet(for: digitsIDm) == packet("0D1E0123456789ABCDEF011000"))
        let two = try Self.system(digitsIDm, "151F0123456789ABCDEF0000021000200030004000")
            .requestBlockInformationEx([Self.node(0x0010), Self.node(0x0020)])
        #expect(two == [BlockCounts(assigned: 0x10, free: 0x20), BlockCounts(assigned: 0x30, free: 0x40)])
        let refused = try refusal(of: one, "0C1F0123456789ABCDEFFFA1", idm: digitsIDm)
        #expect(refused == .status(StatusFlags(0xFF, 0xA1)))
    }

    @Test(arguments: [0, 33]) func blockInformationLimits(_ count: Int) {
        let nodes = [NodeCode](repeating: .system, count: count)
        let error = FeliCaError.invalidArgument(.count(.nodes, count, allowed: 1...32))
        #expect(throws: error) { try RequestBlockInformation(nodes).packet(for: testIDm) }
        #expect(throws: error) { try RequestBlockInformationEx(nodes).packet(for: testIDm) }
    }

    @Test func requestServiceV2() throws {
        let one = RequestServiceV2([Self.node(0x0009)])
        #expect(try one.packet(for: testIDm) == packet("0D32<I>010900"))
        let aes = try Self.system(testIDm, "1033<I>00004F010100").requestServiceV2([Self.node(0x0009)])
        #expect(aes.encryption == .aes)
        #expect(aes.aes == [KeyVersion(rawValue: 1)])
        #expect(aes.des == nil)
        #expect(try refusal(of: one, "0C33<I>0100") == .status(StatusFlags(0x01, 0x00)))
    }

    @Test func requestServiceV2WithBothKinds() throws {
        let two = RequestServiceV2([Self.node(0x0009), Self.node(0x0049)])
        let both = try answer(to: two, "1633<I>0000 41 02 1111 2222 3333 4444")
        #expect(both.aes == [KeyVersion(rawValue: 0x1111), KeyVersion(rawValue: 0x2222)])
        #expect(both.des == [KeyVersion(rawValue: 0x3333), KeyVersion(rawValue: 0x4444)])
        let absent = try answer(to: two, "1633<I>0000 43 02 FFFF 0100 FFFF FFFF")
        #expect(absent.aes == [nil, KeyVersion(rawValue: 1)])
        #expect(absent.des == [nil, nil])
    }

    @Test func requestServiceV2WithAnotherIdentifier() throws {
        let one = RequestServiceV2([Self.node(0x0009)])
        let des = try answer(to: one, "1033<I>00003F010100")
        #expect(des.des == [KeyVersion(rawValue: 1)])
        #expect(des.aes == nil)
        #expect(try answer(to: one, "1033<I>00002F010100").des == [KeyVersion(rawValue: 1)])
        let unknown = try answer(to: one, "1233<I>0000990101000200")
        #expect(unknown.encryption.rawValue == 0x99)
        #expect(unknown.aes == nil && unknown.des == nil)
        #expect(unknown.first == [KeyVersion(rawValue: 1)])
        #expect(unknown.second == [KeyVersion(rawValue: 2)])
    }

    @Test(arguments: [
        ("1033<I>000041010100", FeliCaError.Reason.tooShort(missing: 2)),
        ("1233<I>00004F0101000200", .trailingBytes(extra: 2)),
        ("1033<I>00004F020100", .count(expected: 1, received: 2)),
        ("1133<I>000099 01 0100 02", .tooShort(missing: 1)),
    ])
    func requestServiceV2BadAnswer(_ text: String, _ flaw: FeliCaError.Reason) throws {
        let error = try refusal(of: RequestServiceV2([Self.node(0x0009)]), text)
        #expect(error == .malformed(.requestServiceV2, flaw))
    }

    @Test func getAreaInformation() throws {
        let command = GetAreaInformation(AreaCode(rawValue: 0x3412))
        #expect(try command.packet(for: testIDm) == packet("0C24<I>1234"))
        let information = try Self.system(testIDm, "1025<I>00001234BEEF")
            .getAreaInformation(AreaCode(rawValue: 0x3412))
        #expect(information == (try answer(to: command, "1025<I>00001234BEEF")))
        #expect(information.node == Self.node(0x3412))
        #expect(information.data == [0xBE, 0xEF])
        #expect(try refusal(of: command, "0C25<I>FFE2") == .status(StatusFlags(0xFF, 0xE2)))
    }

    @Test func getSystemStatus() throws {
        #expect(try GetSystemStatus().packet(for: testIDm) == packet("0C38<I>0000"))
        let status = try Self.system(testIDm, "1039<I>00000102AABB").getSystemStatus()
        #expect(status.flag == 1)
        #expect(status.data == [0xAA, 0xBB])
        let short = try refusal(of: GetSystemStatus(), "0E39<I>00000102")
        #expect(short == .malformed(.getSystemStatus, .tooShort(missing: 2)))
    }

    @Test func requestSpecificationVersion() throws {
        #expect(try RequestSpecificationVersion().packet(for: testIDm) == packet("0C3C<I>0000"))
        let version = try Self.system(testIDm, "143D<I>0000 00 0085 02 0083 1282").requestSpecificationVersion()
        #expect(version.basic.description == "5.0.0")
        #expect(version.options.map(\.description) == ["3.0.0", "2.1.2"])
        #expect(version.version(of: .des)?.rawValue == 0x8300)
        #expect(version.version(of: .randomID) == nil)
        let texts = [0x8999, 0x8000, 0x8A00, 0x80A0, 0x800A, 0x9000].map(SpecificationVersion.Number.init(rawValue:))
        #expect(texts.map(\.description) == ["9.9.9", "0.0.0", "8A00", "80A0", "800A", "9000"])
        #expect(SpecificationVersion.Number(rawValue: 0x0500).description == "0500")
    }

    @Test(arguments: [
        ("103D<I>000001008500", FeliCaError.malformed(.requestSpecificationVersion, .value(.formatVersion, 1))),
        ("103D<I>000000008501", .malformed(.requestSpecificationVersion, .tooShort(missing: 2))),
        ("0C3D<I>FFA5", .status(StatusFlags(0xFF, 0xA5))),
    ])
    func requestSpecificationVersionRefusals(_ text: String, _ error: FeliCaError) throws {
        #expect(try refusal(of: RequestSpecificationVersion(), text) == error)
    }

    @Test func echo() throws {
        #expect(try Echo([0xA5, 0x5A]).packet(for: testIDm) == packet("05F000A55A"))
        try Self.system(testIDm, "05F000A55A").echo([0xA5, 0x5A])
        let full = [UInt8](repeating: 7, count: 252)
        #expect(try Echo(full).packet(for: testIDm).first == 255)
        #expect(try refusal(of: Echo([0xA5]), "04F0005A") == .malformed(.echo, .echo))
        #expect(try refusal(of: Echo([0xA5]), "04F001A5") == .malformed(.echo, .responseCode(0xF001)))
        #expect(try refusal(of: Echo([0xA5]), "02F0") == .malformed(.echo, .tooShort(missing: 1)))
    }

    @Test(arguments: [0, 253]) func echoLimits(_ count: Int) {
        #expect(throws: FeliCaError.invalidArgument(.count(.echoData, count, allowed: 1...252))) {
            try Echo([UInt8](repeating: 0, count: count)).packet(for: testIDm)
        }
    }
}
