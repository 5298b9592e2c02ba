// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// The public vectors of a license: the sample person of libjeid's application, written by the card's rules.
enum LicenseVectors {
    /// MF/EF01: edition 008, issued 2007-06-01, valid until 2012-07-01.
    static let commonData = "450B3030382007060120120701" + "46020000"
    static let pinsSet = "050101"
    static let pinsNotSet = "050100"

    /// DF1/EF01, before its padding.
    static let matters =
        "110178120A467C4B5C212132563B52130E254B255B25732121254F254A253314"
        + "00150E254B255B25732121254F254A2533160733353030363031171E456C357E"
        + "455440694265454436683262242C34582332215D2331215D2332180734313930"
        + "363031190531323334351A044D254E491B07343234303730311C063463364045"
        + "791D1C4366373F3C56244F4366373F3C56214A23382374214B244B3842246B1E"
        + "323D604366373F2447313F453E2447242D246B3D604366373F3C56244F3D6043"
        + "66373F3C56214A23352374214B244B3842246B1F00200A456C357E4554387830"
        + "42210C3132333435363738393030302207343230303430312307343230303430"
        + "3124073430303030303025073430303030303026073430303030303027073430"
        + "30303030302807343030303030302907343230303430312A0734303030303030"
        + "2B07343030303030302C07343030303030302D07343030303030302E07343030"
        + "303030302F073430303030303030073430303030303031073432303034303132"
        + "0734303030303030330734303030303030"

    /// DF1/EF04, before its padding: one later entry, a new address.
    static let laterEntries =
        "5001015100520053005400550056005700580059005A005B005C005D005E005F"
        + "0060006100620063006400650066006700680069006A006B006C006D006E006F"
        + "007037782334233323302330233123302331456C357E45544069426545443668"
        + "3262242C34582332215D2331215D2333456C357E455438783042710072007300"
        + "7400750076007700780079007A007B007C007D007E007F008000810082008300"
        + "8400850086008700880089008A008B008C008D008E008F009000910092009300"
        + "9400950096009700"

    /// DF1/EF02, before its padding.
    static let domicile = "411A456C357E455440694265454436683262242C34584673437A4C5C"

    static func bytes(_ hex: String, paddedTo size: Int = 0) throws -> [UInt8] {
        let bytes = try Hex.decode(hex)
        return bytes + [UInt8](repeating: 0xFF, count: max(0, size - bytes.count))
    }

    /// A dump with these files of a license.
    static func dump(_ files: [LicenseFile: [UInt8]]) -> CardDump {
        dump(files.mapValues { FileDump(id: FileIdentifier(rawValue: 0), state: .read, data: $0) })
    }

    /// A dump with these files, whatever became of them.
    static func dump(_ files: [LicenseFile: FileDump]) -> CardDump {
        var dump = CardDump(card: .typeB(pupi: [1, 2, 3, 4]))
        for file in LicenseFile.allCases {
            guard var found = files[file] else { continue }
            found.id = file.id
            if let place = dump.applications.firstIndex(where: { $0.aid == file.application }) {
                dump.applications[place].files.append(found)
            } else {
                dump.applications.append(ApplicationDump(aid: file.application, files: [found]))
            }
        }
        return dump
    }

    /// The whole sample card.
    static func wholeCard() throws -> CardDump {
        dump([
            .commonData: try bytes(commonData), .pinSetting: try bytes(pinsSet),
            .matters: try bytes(matters, paddedTo: 880), .domicile: try bytes(domicile, paddedTo: 82),
            .laterEntries: try bytes(laterEntries, paddedTo: 640),
        ])
    }
}
