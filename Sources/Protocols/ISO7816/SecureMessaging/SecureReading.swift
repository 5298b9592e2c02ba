// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ReaderCore

/// The forms of a protected READ BINARY of a residence card, in the order in which they are tried.
///
/// Only the first is in the examples of the specification; no real card is known to have answered the others.
enum ReadForm: Int, Hashable, Sendable, CaseIterable {
    /// The whole file with extended lengths, where the reader can carry the answer.
    case whole
    /// A part of at most 224 bytes with short lengths.
    case part
    /// The same part with extended lengths.
    case extendedPart
    /// Smaller parts with short lengths, falling until one is accepted.
    case smallParts

    /// The status words after which the next form is tried.
    static let refusals: Set<StatusWord> = [0x6700, 0x6982, 0x6988, 0x6A86]

    /// The most plain bytes of a part: 236 bytes of answer with Triple DES, 244 with AES.
    static let longestPart = 224
    /// The first and the last length of smaller parts.
    static let smallLengths = (first: 160, last: 16)
}

extension SecureMessaging {
    /// Reads an EF of the current DF by its short identifier.
    ///
    /// - Parameters:
    ///   - shortID: 1 to 30.
    ///   - size: the length of the file in bytes; a shorter one ends earlier.
    /// - Throws: ``SecureMessagingError``; ``ISO7816Error/status(_:_:)`` with the last refusal when no form was accepted.
    package func readFile(shortID: UInt8, size: Int) throws(SecureMessagingError) -> [UInt8] {
        let remembered = readForm.map { [$0] } ?? []
        let forms = (remembered + ReadForm.allCases.filter { $0 != readForm }).filter { isPossible($0, size) }
        var refusal: SecureMessagingError?
        for form in forms {
            do throws(SecureMessagingError) {
                let data = try read(form, shortID, size)
                readForm = form
                return data
            } catch {
                guard error.allowsOtherForm else { throw error }
                refusal = error
            }
        }
        throw refusal ?? .malformed(.objects)
    }

    private func isPossible(_ form: ReadForm, _ size: Int) -> Bool {
        switch form {
        case .whole: longestPlain(inAnswerOf: session.limits.longestResponse) >= size
        case .smallParts: size > ReadForm.smallLengths.last
        case .part, .extendedPart: true
        }
    }

    private func read(
        _ form: ReadForm, _ shortID: UInt8, _ size: Int
    ) throws(SecureMessagingError) -> [UInt8] {
        guard form != .whole else {
            let response = try transmit(
                .readBinary, p1: 0x80 | shortID & 0x1F, wanted: 0, lengthForm: .extended)
            guard response.status == .success || response.status == .endOfFile, !response.data.isEmpty else {
                throw .card(.status(.readBinary, response.status))
            }
            return Array(response.data.prefix(size))
        }
        let isFalling = form == .smallParts
        let longest = isFalling ? ReadForm.smallLengths.first : ReadForm.longestPart
        var reads = FallingReads(step: min(longest, longestPlain(inAnswerOf: session.limits.longestResponse)))
        let smallest = isFalling ? ReadForm.smallLengths.last : Int.max
        let end = try reads.read(size, smallest: smallest) { offset, count throws(SecureMessagingError) in
            try transmit(
                .readBinary, p1: offset == 0 ? 0x80 | shortID & 0x1F : UInt8(truncatingIfNeeded: offset >> 8),
                p2: UInt8(truncatingIfNeeded: offset), wanted: count,
                lengthForm: form == .extendedPart ? .extended : .short)
        }
        do throws(ISO7816Error) {
            return try reads.contents(end)
        } catch {
            throw .card(error)
        }
    }
}

extension SecureMessagingError {
    /// Whether another form of the same read may be accepted.
    fileprivate var allowsOtherForm: Bool {
        switch self {
        case .card(.status(_, let status)): ReadForm.refusals.contains(status)
        case .card(.transport(.answerTooLong)), .card(.transport(.frameTooLong)): true
        default: false
        }
    }
}
