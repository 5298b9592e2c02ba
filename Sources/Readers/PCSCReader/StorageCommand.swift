// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// A command of a Type 2 Tag as the pseudo-APDU that PC/SC has for it, which every reader supports.
///
/// Source: PC/SC part 3 §3.2.2: READ BINARY `FF B0`, UPDATE BINARY `FF D6`, both with the page as P2.
enum StorageCommand: Hashable, Sendable {
    /// READ: four pages.
    case read(page: UInt8)
    case write(page: UInt8, data: [UInt8])

    /// - Returns: `nil` for commands without a PC/SC equivalent, such as GET_VERSION.
    init?(_ frame: [UInt8]) {
        switch (frame.first, frame.count) {
        case (0x30, 2): self = .read(page: frame[1])
        case (0xA2, 6): self = .write(page: frame[1], data: Array(frame[2...]))
        default: return nil
        }
    }

    /// The pseudo-APDU.
    var apdu: [UInt8] {
        switch self {
        case .read(let page): [0xFF, 0xB0, 0x00, page, 0x10]
        case .write(let page, let data): [0xFF, 0xD6, 0x00, page, 0x04] + data
        }
    }

    /// Extracts the tag's answer from the reader's: 16 bytes, or the four-bit ACK or NAK as one byte.
    ///
    /// A reader distinguishes a refusal from a missing answer only by its status word: 63xx and 64xx, which most give
    /// for both, count as no answer.
    func answer(in reply: [UInt8]) throws(TransportError) -> [UInt8] {
        guard reply.count >= 2 else { throw .corrupted(status: 0) }
        switch (reply[reply.count - 2], self) {
        case (0x90, .read):
            guard reply.count == 18 else { throw .corrupted(status: 0) }
            return Array(reply.dropLast(2))
        case (0x90, .write): return [0x0A]
        case (0x63...0x65, _): throw .noAnswer
        default: return [0x00]
        }
    }
}
