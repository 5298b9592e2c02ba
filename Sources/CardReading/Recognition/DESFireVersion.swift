// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ISO7816

/// What a DESFire card answers to GetVersion (vector PM7): seven bytes of hardware, seven of software, then UID, batch
/// and date, which belong to this one card and are not kept.
struct DESFireVersion: Hashable, Sendable {
    /// GetVersion and two requests for more, each within an APDU.
    static let commands = [0x60, 0xAF, 0xAF].map { CommandAPDU(Instruction(rawValue: $0), cla: 0x90, ne: 0x100) }
    /// The status of an answer that more follows after, and of the last one.
    static let more: StatusWord = 0x91AF
    static let done: StatusWord = 0x9100

    /// Hardware and software: vendor, type, subtype, major and minor version, storage, protocol.
    let hardware, software: [UInt8]

    /// - Returns: `nil` when the answer is not 28 bytes or its vendor is not NXP.
    init?(_ answer: [UInt8]) {
        guard answer.count == 28, answer[0] == 0x04, answer[7] == 0x04 else { return nil }
        hardware = Array(answer[0..<7])
        software = Array(answer[7..<14])
    }

    var details: [RecognizedCard.Detail] {
        var details: [RecognizedCard.Detail] = [
            .init("hardware", LocalizedText("Hardware", "ハードウェア"), "\(hardware[3]).\(hardware[4])"),
            .init("software", LocalizedText("Software", "ソフトウェア"), "\(software[3]).\(software[4])"),
        ]
        // The upper seven bits are a power of two; the lowest says that it is a little more than that.
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
