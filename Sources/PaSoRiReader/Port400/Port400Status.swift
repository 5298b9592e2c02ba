// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// The status words of a Port-400, the outer and the inner ones.
///
/// Source: felica-rs's `port400/pcsc.rs` and the PC/SC part 3 supplement.
enum Port400Status {
    static let done: UInt16 = 0x9000

    /// What a status word means; `nil` when all is well.
    static func error(_ status: UInt16) -> TransportError? {
        switch status {
        case done: nil
        case 0x6400, 0x6401: .noAnswer
        case 0x6301: .corrupted(status: 0x01)
        case 0x698A: ownedByOther
        case 0x6985: notAllowed
        default:
            .readerFailed(detail: "the reader reported status \(Hex.encode(status, digits: 4))")
        }
    }

    /// What the reader says when there is no session, or when there is one already.
    static let notAllowed = TransportError.readerFailed(
        detail: "the reader's session does not allow this command")

    /// Another program has a session with the reader.
    static let ownedByOther = TransportError.readerUnavailable(
        reason: .busy, detail: "another program has a session with it")
}
