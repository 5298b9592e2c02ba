// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ISO7816

/// The applications that a payment card lists in its PPSE.
///
/// Its form is `6F { A5 { BF0C { 61 { 4F AID, 50 label } … } } }` (vector PM6). Nothing else in it is examined.
enum PaymentDirectory {
    private static let template: BERTag = 0x6F
    private static let proprietary: BERTag = 0xA5
    private static let discretionary: BERTag = 0xBF0C
    private static let entry: BERTag = 0x61
    private static let name: BERTag = 0x4F
    private static let label: BERTag = 0x50

    /// The maximum number of applications to list.
    private static let most = 16

    /// Returns the scheme and label of each application.
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

    /// Returns the AID, and the scheme if known.
    private static func scheme(_ aid: [UInt8]) -> String {
        let digits = Hex.encode(aid.prefix(16), uppercase: true)
        let scheme = KnownCard.all(by: .scheme).first { aid.starts(with: $0.value) }
        return scheme.map { "\(digits) \($0.name.english)" } ?? digits
    }

    /// Returns a label of up to 16 printable characters, as EMV defines it.
    private static func text(_ bytes: [UInt8]) -> String? {
        guard (1...16).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The answer of a DESFire card to GetVersion (vector PM7): seven bytes of hardware, then seven of software.
///
/// UID, batch and date follow; they are specific to this one card and are not kept.
struct DESFireVersion: Hashable, Sendable {
    /// GetVersion and two continuation requests, each wrapped in an APDU.
    static let commands = [0x60, 0xAF, 0xAF].map { CommandAPDU(Instruction(rawValue: $0), cla: 0x90, ne: 0x100) }
    /// The status of an answer with more to follow, and of the last one.
    static let more: StatusWord = 0x91AF
    static let done: StatusWord = 0x9100

    /// Hardware and software: vendor, type, subtype, major and minor version, storage, protocol.
    let hardware, software: [UInt8]

    /// - Returns: `nil` when the answer is not 28 bytes, its vendor is not NXP, or it is an NTAG's, whose type is 04.
    init?(_ answer: [UInt8]) {
        guard answer.count == 28, answer[0] == 0x04, answer[7] == 0x04, answer[1] != 0x04 else { return nil }
        hardware = Array(answer[0..<7])
        software = Array(answer[7..<14])
    }

    var details: [RecognizedCard.Detail] {
        var details: [RecognizedCard.Detail] = [
            .init("hardware", LocalizedText("Hardware", "ハードウェア"), "\(hardware[3]).\(hardware[4])"),
            .init("software", LocalizedText("Software", "ソフトウェア"), "\(software[3]).\(software[4])"),
        ]
        // The upper seven bits are a power of two; the lowest means slightly more than that.
        let exponent = Int(hardware[5] >> 1)
        if exponent < 32 {
            details.append(
                .init(
                    "storage", LocalizedText("Storage", "容量"),
                    "\(hardware[5] & 1 == 0 ? "" : "> ")\(1 << exponent) bytes"))
        }
        return details
    }
}
