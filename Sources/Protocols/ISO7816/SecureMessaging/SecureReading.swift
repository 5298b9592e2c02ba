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

    /// The status words after which the next form is tried.
    static let refusals: Set<StatusWord> = [0x6700, 0x6982, 0x6988, 0x6A86]

    /// The most plain bytes of a part: 236 bytes of answer with Triple DES, 244 with AES.
    static let longestPart = 224
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
        form != .whole || longestPlain(inAnswerOf: session.limits.longestResponse) >= size
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
        let step = min(ReadForm.longestPart, longestPlain(inAnswerOf: session.limits.longestResponse))
        var data: [UInt8] = []
        while data.count < size {
            let offset = data.count
            let response = try transmit(
                .readBinary, p1: offset == 0 ? 0x80 | shortID & 0x1F : UInt8(truncatingIfNeeded: offset >> 8),
                p2: UInt8(truncatingIfNeeded: offset), wanted: min(step, size - offset),
                lengthForm: form == .part ? .short : .extended)
            switch response.status {
            case .success where !response.data.isEmpty, .endOfFile where !response.data.isEmpty:
                data += response.data.prefix(size - offset)
                if response.status == .endOfFile { return data }
            case .success, .endOfFile, .wrongParameters:
                guard !data.isEmpty else { throw .card(.status(.readBinary, response.status)) }
                return data
            default: throw .card(.status(.readBinary, response.status))
            }
        }
        return data
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
