// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The applications that a payment card lists in its PPSE: `6F { A5 { BF0C { 61 { 4F AID, 50 label } … } } }`
/// (vector PM6). Nothing else of it is looked at.
enum PaymentDirectory {
    private static let template: BERTag = 0x6F
    private static let proprietary: BERTag = 0xA5
    private static let discretionary: BERTag = 0xBF0C
    private static let entry: BERTag = 0x61
    private static let name: BERTag = 0x4F
    private static let label: BERTag = 0x50

    /// The most applications that are named.
    private static let most = 16

    /// Scheme and label of each application.
    static func details(_ answer: [UInt8]) -> [RecognizedCard.Detail] {
        let list = BERTLVList(tolerant: answer)[template]?[proprietary]?[discretionary]?.children ?? []
        return list.filter { $0.tag == entry }.prefix(most).flatMap { entry in
            var details: [RecognizedCard.Detail] = []
            if let aid = entry[name]?.value {
                details.append(.init("application", LocalizedText("Application", "アプリケーション"), scheme(aid)))
            }
            if let label = entry[label]?.value, let text = text(label) {
                details.append(.init("label", LocalizedText("Label", "表示名"), text))
            }
            return details
        }
    }

    /// The AID, and the scheme when it is known.
    private static func scheme(_ aid: [UInt8]) -> String {
        let digits = Hex.encode(aid.prefix(16), uppercase: true)
        let scheme = KnownCard.all(by: .scheme).first { aid.starts(with: $0.value) }
        return scheme.map { "\(digits) \($0.name.english)" } ?? digits
    }

    /// A label of up to 16 printable characters, as EMV has it.
    private static func text(_ bytes: [UInt8]) -> String? {
        guard (1...16).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
