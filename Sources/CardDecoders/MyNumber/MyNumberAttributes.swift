// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The four items of 券面事項入力補助: FF20 with DF22 name, DF23 address, DF24 birth date, DF25 sex, in UTF-8.
///
/// Sources: jpki/myna, AokiApp/jsapdu.
public struct MyNumberAttributes: Hashable, Sendable {
    /// 氏名; `nil` when it is not there or no text.
    public let name: String?
    /// 住所; `nil` when it is not there or no text.
    public let address: String?
    /// 生年月日 as eight digits on the card; `nil` when it is not there or no day.
    public let birthDate: CalendarDate?
    /// 性別 as the card's code; `nil` when it is not there or no text.
    public let sex: String?
    /// The items that are not there, or not what they should be, by their tags.
    public let flaws: [String]

    /// The items in the bytes of the file, or `nil` when they do not begin with FF20.
    init?(_ bytes: [UInt8]) {
        let list = BERTLVList(tolerant: bytes)
        guard let template = list[0xFF20] else { return nil }
        let inner = BERTLVList(tolerant: template.value)
        var flaws: [String] = list.fault == nil && inner.fault == nil ? [] : ["FF20"]
        func text(_ tag: BERTag) -> String? {
            guard let object = inner[tag], let text = String(validating: object.value, as: UTF8.self), !text.isEmpty
            else {
                flaws.append("\(tag)")
                return nil
            }
            return text
        }
        name = text(0xDF22)
        address = text(0xDF23)
        let birth = text(0xDF24)
        birthDate = birth.flatMap(MyNumberAttributes.day)
        if birth != nil, birthDate == nil { flaws.append("DF24") }
        sex = text(0xDF25)
        self.flaws = flaws
    }

    private static func day(_ text: String) -> CalendarDate? {
        let digits = text.utf8.map { (0x30...0x39).contains($0) ? Int($0) - 0x30 : -1 }
        guard digits.count == 8, !digits.contains(-1) else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        return CalendarDate(year: number(0..<4), month: number(4..<6), day: number(6..<8))
    }
}
