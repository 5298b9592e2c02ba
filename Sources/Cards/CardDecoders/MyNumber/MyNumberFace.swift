// SPDX-License-Identifier: Apache-2.0

package import ByteCodec
public import CardModel

/// The face of a My Number card, 券面 0002: FF20 { DF21 table of offsets, DF22 birth date, DF23 sex, DF24 key of the card, DF25 name,
/// DF26 address, DF27 photo, DF28 signature, DF29 expiry, DF2A picture of the security code }.
///
/// The objects must be exactly these. The picture of the security code is not read.
///
/// Sources: soltia48/myna-card, jpki/myna.
public struct MyNumberFace: Hashable, Sendable {
    /// 生年月日; `nil` when it is not a valid date.
    public let birthDate: CalendarDate?
    /// 性別 as the card's code (JIS X 0303): 1 male, 2 female, 0 unknown, 9 not applicable; `nil` when it is not one digit.
    public let sex: String?
    /// The last day on which the card is valid, which nothing signs; `nil` when it is not a valid date.
    public let expiryDate: CalendarDate?
    /// The pictures, as they are on the card: PNG, and the photo JPEG 2000; one that is empty is left out.
    public let pictures: [Picture: [UInt8]]

    /// A picture of the face; the raw values are those of documents.
    @nonexhaustive
    public enum Picture: String, Hashable, Sendable, CaseIterable {
        /// The photo.
        case photo
        /// The name as it is printed.
        case name
        /// The address as it is printed.
        case address

        /// The display name.
        public var name: LocalizedText {
            switch self {
            case .photo: LocalizedText("photo", "顔写真")
            case .name: LocalizedText("picture of the name", "氏名の画像")
            case .address: LocalizedText("picture of the address", "住所の画像")
            }
        }

        fileprivate var tag: BERTag {
            switch self {
            case .photo: 0xDF27
            case .name: 0xDF25
            case .address: 0xDF26
            }
        }
    }

    /// Whether nothing is missing.
    package var isWhole: Bool {
        birthDate != nil && sex != nil && expiryDate != nil && pictures.count == Picture.allCases.count
    }

    /// The objects of the file, which must be these and no others; `nil` for another layout.
    package static func objects(of file: [UInt8]) -> BERTemplate? {
        let tags: [BERTag] = [
            0xDF21, 0xDF22, 0xDF23, 0xDF24, 0xDF25, 0xDF26, 0xDF27, 0xDF28, 0xDF29, 0xDF2A,
        ]
        guard let objects = BERTemplate(file, 0xFF20, containing: tags),
            objects.isTableOfOffsets(objects.value(of: 0xDF21))
        else { return nil }
        return objects
    }

    /// Parses the file; `nil` when its objects are not those that it must have.
    init?(_ file: [UInt8]) {
        guard let objects = MyNumberFace.objects(of: file) else { return nil }
        birthDate = CalendarDate(digits: objects.value(of: 0xDF22))
        expiryDate = CalendarDate(digits: objects.value(of: 0xDF29))
        let code = objects.value(of: 0xDF23)
        sex = CardText.digits(code, count: 1) == nil ? nil : String(decoding: code, as: UTF8.self)
        pictures = Dictionary(
            uniqueKeysWithValues: Picture.allCases.compactMap { picture in
                let bytes = objects.value(of: picture.tag)
                return bytes.isEmpty ? nil : (picture, bytes)
            })
    }
}

extension CalendarDate {
    /// Eight ASCII digits, `YYYYMMDD`.
    init?(digits bytes: some Collection<UInt8>) {
        guard let digits = CardText.digits(bytes, count: 8) else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        self.init(year: number(0..<4), month: number(4..<6), day: number(6..<8))
    }
}
