// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Commands in the form of APDUs that are for the reader itself.
enum PseudoAPDU {
    /// `FF 00 00 00 Lc content`, which ACS readers pass on; `nil` when the content is empty or too long.
    static func direct(_ content: [UInt8]) -> [UInt8]? {
        guard let length = UInt8(exactly: content.count), length > 0 else { return nil }
        return [0xFF, 0x00, 0x00, 0x00, length] + content
    }

    /// The content of the answer.
    ///
    /// - Parameter notPassed: what to say when the reader does not know the pseudo-APDU.
    /// - Throws: ``TransportError/noAnswer`` when the card kept silent: ACS readers say 6300, PC/SC part 3 6400 and 6401;
    ///   `notPassed`; ``TransportError/corrupted(status:)`` when there is no status word.
    static func content(of answer: [UInt8], notPassed: TransportError) throws(TransportError) -> [UInt8] {
        guard answer.count >= 2 else { throw .corrupted(status: 0) }
        switch (answer[answer.count - 2], answer[answer.count - 1]) {
        case (0x90, 0x00): return Array(answer.dropLast(2))
        case (0x63, 0x00), (0x64, _): throw .noAnswer
        default: throw notPassed
        }
    }
}
