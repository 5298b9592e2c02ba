// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// FCF, the format of Japanese campus and employee cards, in the common area; and the student card of Gifu University.
//
// One source for each institution (TRETJapanNFCReader: the digits of one university; taiki-kuraishi's program and card of
// another: number and name in blocks 0 and 1 as Shift_JIS text, and, inferred from that card, days in blocks 2 and 3;
// felica-wallet for Gifu). The layout differs between institutions and the Kumamon card uses the same service, so everything
// here is only a candidate: the bytes read as digits, text and days. All of it is personal. On cards of other issuers the
// service can be there and empty. The log in 120F: see ``ICUDecoder``.

extension CardKind {
    /// FCF campus or employee card.
    public static let fcf = CardKind(rawValue: "fcf")
    /// Gifu University student card.
    public static let gifuUniversity = CardKind(rawValue: "gifu-university")
}

/// Shows possible contents of a campus or employee card: digits and text, all personal, none certain.
package struct CampusCardDecoder: PurselessDecoder {
    package let kind: CardKind
    package let name: LocalizedText
    /// The block that identifies the card; no balance is known.
    package let balanceRead: ReadRequest
    /// The blocks that contain number and name, and days where there are more.
    package var historyReads: [ReadRequest] { [textRead] + (dayRead.map { [$0] } ?? []) }

    /// The whole service: number and name can be anywhere in it.
    package var personal: [PersonalBytes] {
        [PersonalBytes(textRead.system.rawValue, textRead.service.rawValue)]
    }

    private let textRead: ReadRequest
    /// Two more blocks, where the format has them.
    private let dayRead: ReadRequest?

    private let hasDigits: Bool

    private init(_ kind: CardKind, _ name: LocalizedText, _ system: UInt16, _ service: UInt16, hasDigits: Bool) {
        self.hasDigits = hasDigits
        self.kind = kind
        self.name = name
        balanceRead = ReadRequest(system, service)
        textRead = ReadRequest(system, service, 0..<2)
        dayRead = hasDigits ? ReadRequest(system, service, 2..<4, isRequired: false) : nil
    }

    /// FCF cards: service 1A8B of the common area.
    package static let fcf = CampusCardDecoder(
        .fcf, LocalizedText("FCF campus or employee card", "FCFキャンパスカード・社員証"), 0xFE00, 0x1A8B, hasDigits: true)

    /// Gifu University: service 020B of system 0447.
    package static let gifu = CampusCardDecoder(
        .gifuUniversity, LocalizedText("Gifu University student card", "岐阜大学学生証"), 0x0447, 0x020B, hasDigits: false)

    /// Returns whether the system has the service, and not only zeros in it.
    package func recognizes(_ dump: CardDump) -> Bool {
        guard dump.holds(balanceRead) else { return false }
        let blocks = dump.opened(textRead)?.blocks ?? [:]
        return blocks.isEmpty || blocks.contains { !$0.block.isZero }
    }

    /// Decodes the blocks as digits and as text.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        guard let service = dump.opened(textRead) else { throw noBalance(dump) }
        var report = CardReport(kind: kind, name: name, warnings: [.oneSource])
        for (number, block) in service.blocks where textRead.blocks.contains(number) {
            let text = CardText.shiftJIS(block.bytes)
            report.fields += [
                candidate(
                    "digits\(number)", "Digits of block \(number), if any", "ブロック\(number)の数字の候補",
                    text == nil ? digits(block) : nil),
                candidate("text\(number)", "Text of block \(number), if any", "ブロック\(number)の文字の候補", text),
            ].compactMap { $0 }
        }
        if let dayRead, let days = dump.opened(dayRead)?.blocks {
            report.fields += [
                candidate(
                    "firstDay", "First day, if it is one", "開始日の候補", days[2].flatMap { day($0.bytes.dropFirst(8)) }),
                candidate("lastDay", "Last day, if it is one", "終了日の候補", days[3].flatMap { day($0.bytes) }),
            ].compactMap { $0 }
        }
        return report
    }

    /// Eight digits at the beginning that are a day.
    private func day(_ bytes: some Sequence<UInt8>) -> String? {
        guard let digits = CardText.digits(Array(bytes.prefix(8)), count: 8) else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        return CalendarDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))?.description
    }

    private func candidate(_ key: String, _ english: String, _ japanese: String, _ value: String?) -> CardField? {
        value.map { CardField(key: key, name: LocalizedText(english, japanese), value: $0, isPersonal: true) }
    }

    /// The low nibbles of bytes 2 to 7, if all are decimal and not all are zero.
    private func digits(_ block: Block) -> String? {
        guard hasDigits else { return nil }
        let nibbles = block.bytes.dropFirst(2).prefix(6).map { $0 & 0xF }
        guard nibbles.allSatisfy({ $0 <= 9 }), nibbles.contains(where: { $0 != 0 }) else { return nil }
        return nibbles.map { String($0) }.joined()
    }
}
