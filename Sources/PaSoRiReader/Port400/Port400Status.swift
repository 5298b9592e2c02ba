// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// What the answers of a Port-400 mean to callers.
enum Port400Status {
    /// The chip status for an error in the air that the reader does not describe further (6300). Object 96 has four bits
    /// below it.
    static let damagedInTheAir: UInt8 = 0x10

    /// The error of a status; `nil` for success.
    static func error(_ meaning: TransparentAnswer.Meaning) -> TransportError? {
        switch meaning {
        case .done: nil
        case .silent: .noAnswer
        case .damaged: .corrupted(status: damagedInTheAir)
        case .wrongState: notAllowed
        case .sessionIsOpen: ownedByOther
        case .refused(let status):
            .readerFailed(detail: "the reader reported status \(Hex.encode(status, digits: 4))")
        }
    }

    /// What the reader says when there is no session, or the order of commands is wrong.
    static let notAllowed = TransportError.readerFailed(
        detail: "the reader's session does not allow this command")

    /// Another program has a session with the reader.
    static let ownedByOther = TransportError.readerUnavailable(
        reason: .busy, detail: "another program has a session with it")
}
