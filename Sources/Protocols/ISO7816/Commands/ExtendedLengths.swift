// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// How long commands and answers may be that a card takes and gives with extended lengths.
///
/// It is a data object 7F66 in EF.ATR/INFO: two numbers (ISO/IEC 7816-4 §12.7.1; ICAO Doc 9303-10). A card that does not have it
/// may support extended lengths as well, but there are chips that end a session of secure messaging at the first one.
package struct ExtendedLengths: Hashable, Sendable {
    /// The longest command APDU in bytes.
    package let longestCommand: Int
    /// The longest response APDU in bytes, including the status word.
    package let longestResponse: Int

    /// The identifier of EF.ATR/INFO, in the master file.
    package static let file = FileIdentifier(rawValue: 0x2F01)
    /// The longest answers with short lengths.
    private static let short = 0x102

    /// Finds the object in the contents of EF.ATR/INFO; `nil` if it is not there, or allows no more than short lengths do.
    package init?(_ file: [UInt8]) {
        // A category indicator may come first, as in historical bytes.
        let objects = BERTLVList(tolerant: file.first == 0x80 || file.first == 0x00 ? file.dropFirst() : file[...])
        guard let value = objects[0x7F66]?.value else { return nil }
        let numbers = BERTLVList(tolerant: value).objects.filter { $0.tag == 0x02 && (1...3).contains($0.value.count) }
            .map { $0.value.reduce(0) { $0 << 8 | Int($1) } }
        guard numbers.count == 2, numbers[1] > Self.short else { return nil }
        (longestCommand, longestResponse) = (numbers[0], numbers[1])
    }
}

extension ISO7816Session {
    /// Reads EF.ATR/INFO of the current DF, which is the master file, if the reader carries more than short answers.
    ///
    /// - Returns: what it says; `nil` if the card does not have it, or does not say it there.
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    package func extendedLengths() throws(ISO7816Error) -> ExtendedLengths? {
        guard limits.longestResponse > APDULimits().longestResponse else { return nil }
        do throws(ISO7816Error) {
            try select(.childEF(ExtendedLengths.file))
        } catch .status {
            return nil
        }
        let contents = readFile(limit: 0x100)
        if case .failed(let error) = contents.end { throw error }
        return ExtendedLengths(contents.data)
    }
}
