// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ISO7816
internal import ReaderCore

/// Reads the files of a passport's application, in a session of secure messaging or, where the chip asks for nothing, plainly.
///
/// Many chips end the session when they refuse something: a length that is too long for them, or a file. Reading then goes on in a new
/// session, with smaller parts if it was within a file.
struct PassportFiles {
    /// The way to the chip.
    private enum Way {
        case secure(SecureMessaging)
        case plain(ISO7816Session)
    }

    private var way: Way
    /// The longest response APDU that the chip announces; `nil` for short lengths only.
    private let longestAnswer: Int?
    /// The number of bytes to request, as the chip taught it; `nil` before anything was refused.
    private var step: Int?

    /// The longest file that is read, in bytes.
    static let longestFile = 1 << 18
    /// The shortest part that is worth an authentication.
    private static let shortestPart = 16
    /// The bytes in which tag and length of a file are found.
    private static let headLength = 4

    /// - Parameter lengths: what the chip says about extended lengths.
    init(secure: SecureMessaging, _ lengths: ExtendedLengths?) {
        (way, longestAnswer) = (.secure(secure), lengths?.longestResponse)
    }

    init(plain session: ISO7816Session) { (way, longestAnswer) = (.plain(session), nil) }

    /// Whether the files are read without a key.
    var isPlain: Bool { if case .plain = way { true } else { false } }

    /// Whether the chip ended the session.
    private var isOver: Bool { if case .secure(let secure) = way { secure.isOver } else { false } }

    /// The session of secure messaging, opened again if the chip ended it; `nil` if the files are read plainly.
    ///
    /// - Parameter reopen: authenticates again.
    mutating func session(
        reopen: () throws(SecureMessagingError) -> SecureMessaging
    ) throws(SecureMessagingError) -> SecureMessaging? {
        guard case .secure(var secure) = way else { return nil }
        if secure.isOver {
            secure = try reopen()
            way = .secure(secure)
        }
        return secure
    }

    /// Selects a file and reads its first bytes.
    ///
    /// - Throws: ``SecureMessagingError``; ``ISO7816Error/status(_:_:)`` if the chip refuses.
    @discardableResult
    mutating func open(_ id: FileIdentifier) throws(SecureMessagingError) -> [UInt8] {
        try select(id)
        let head = try part(0, Self.headLength)
        switch head.status {
        case .success, .endOfFile: return head.data
        default: throw .card(.status(.readBinary, head.status))
        }
    }

    /// Reads the data object at the start of a file: first its header, then as much as its length says, and nothing behind it.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that it may have.
    ///   - reopen: authenticates again.
    /// - Throws: ``SecureMessagingError``; ``ISO7816Error/status(_:_:)`` if the chip refuses.
    mutating func read(
        _ id: FileIdentifier, limit: Int = longestFile, reopen: () throws(SecureMessagingError) -> SecureMessaging
    ) throws(SecureMessagingError) -> [UInt8] {
        if isOver { way = .secure(try reopen()) }
        let head = try open(id)
        guard let header = try? BERHeader(head), header.totalLength <= limit else {
            throw .card(.malformed(.readBinary, .notADataObject))
        }
        var reads = FallingReads(
            after: Array(head.prefix(header.totalLength)), step: step ?? firstStep, longestShort: shortStep)
        var files = self
        let end = try reads.read(header.totalLength, smallest: Self.shortestPart, isTooLong: { _ in files.isOver }) {
            offset, count throws(SecureMessagingError) in
            if files.isOver {
                files.way = .secure(try reopen())
                try files.select(id)
            }
            return try files.part(offset, count)
        }
        self = files
        step = reads.step
        if case .refused(let status) = end { throw .card(.status(.readBinary, status)) }
        return reads.data
    }

    private var firstStep: Int {
        switch way {
        case .secure(let secure): secure.firstStep(longestAnswer)
        case .plain(let session): session.limits.bytesPerRead
        }
    }

    private var shortStep: Int {
        switch way {
        case .secure(let secure): secure.shortStep
        case .plain: 0x100
        }
    }

    private func select(_ id: FileIdentifier) throws(SecureMessagingError) {
        switch way {
        case .secure(let secure): try secure.select(id)
        case .plain(let session):
            do throws(ISO7816Error) {
                try session.select(.childEF(id))
            } catch {
                throw .card(error)
            }
        }
    }

    private func part(_ offset: Int, _ count: Int) throws(SecureMessagingError) -> ResponseAPDU {
        switch way {
        case .secure(let secure):
            do throws(SecureMessagingError) {
                return try secure.readBinary(at: offset, count: count)
            } catch {
                // Chip or reader may have cut a long answer: none of it counts, and it is asked for again in short parts.
                guard count > secure.shortStep, error.mayBeCut else { throw error }
                secure.end()
                return ResponseAPDU(status: .wrongLength)
            }
        case .plain(let session):
            do throws(ISO7816Error) {
                return try session.readBinary(offset: offset, count: count)
            } catch {
                throw .card(error)
            }
        }
    }
}

extension SecureMessagingError {
    /// Whether a part of the answer may be missing.
    fileprivate var mayBeCut: Bool {
        switch self {
        case .malformed, .card(.transport(.answerTooLong)): true
        default: false
        }
    }
}
