// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import Testing

@Suite("Tags and lengths of a license, which only look like BER")
struct LicenseRecordTests {
    /// Bytes of a file, and the items in it as `tag@offset=value`.
    struct Case: Sendable {
        let file: LicenseFile
        let hex: String
        let items: String
        var fault: LicenseWarning.Reason?

        init(_ file: LicenseFile, _ hex: String, _ items: String, _ fault: LicenseWarning.Reason? = nil) {
            (self.file, self.hex, self.items, self.fault) = (file, hex, items, fault)
        }
    }

    static let cases = [
        Case(.matters, "1F01AA2001BB", "1F@0=AA 20@3=BB"),
        Case(.laterEntries, "5F0160600161", "5F@0=60 60@3=61"), Case(.laterEntries, "7F009F0101", "7F@0= 9F@2=01"),
        Case(.photo, "5F40820002AABB", "5F40@0=AABB"), Case(.photo, "5F0141", "5F@0=41"),
        Case(.laterEntries, "5F40", "", .pastEnd(length: 64, left: 0)),
        Case(.matters, "11810178", "11@0=78"), Case(.matters, "1182000178FF", "11@0=78"),
        Case(.matters, "FF110178", ""), Case(.matters, "", ""), Case(.matters, "FFFFFF", ""),
        Case(.matters, "110178FF12", "11@0=78"),
        Case(.matters, "11", "", .lengthMissing), Case(.matters, "1181", "", .lengthMissing),
        Case(.matters, "118200", "", .lengthMissing), Case(.matters, "11017812", "11@0=78", .lengthMissing),
        Case(.matters, "1180", "", .lengthForm(0x80)), Case(.matters, "1183000001", "", .lengthForm(0x83)),
        Case(.matters, "11FF", "", .lengthForm(0xFF)),
        Case(.matters, "1182FFFF00", "", .pastEnd(length: 65_535, left: 1)),
        Case(.myNumberMatters, "FF0731323334353637", "FF@0=31323334353637"),
        Case(.myNumberMatters, "C2000100010101", "C2@0= 0100@2=01", .lengthMissing),
        Case(.myNumberMatters, "C20001070155FFFF", "C2@0= 0107@2=55"), Case(.myNumberMatters, "C200FF", "C2@0="),
        Case(.myNumberSignature, "0108820001AA010900FF00", "0108@0=AA 0109@6="),
        Case(.myNumberMatters, "01", "", .lengthMissing),
    ]

    @Test("Items, padding and what breaks them", arguments: cases)
    func items(_ item: Case) throws {
        let list = LicenseRecordList(try Hex.decode(item.hex), of: item.file)
        let found = list.records.map { "\($0.tag)@\($0.offset)=\(Hex.encode($0.value, uppercase: true))" }
        #expect(found.joined(separator: " ") == item.items)
        #expect(list.warnings.map(\.reason) == (item.fault.map { [$0] } ?? []))
    }
}
