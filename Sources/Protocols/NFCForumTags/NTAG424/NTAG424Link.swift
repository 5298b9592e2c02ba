// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import CardModel
internal import ISO7816
internal import ReaderCore

/// The commands of an NTAG 424 DNA, with and without a session of one of its keys.
final class NTAG424Link {
    let session: ISO7816Session
    /// The session of a key; `nil` without one, and after any error.
    private(set) var secure: EV2Session?
    /// Whether the tag is in LRP mode; `nil` until it was found out.
    private var isLRP: Bool?
    /// The number of the key that opened it.
    private(set) var keyNumber: UInt8?
    /// The source of RndA.
    var random: () -> [UInt8] = { (0..<16).map { _ in .random(in: .min ... .max) } }

    init(session: ISO7816Session) { self.session = session }

    /// Selects the NDEF application, which ends a session.
    func select() throws(TagError) {
        secure = nil
        guard let application = Type4Tag.application else { throw .takesNoKey }
        do throws(ISO7816Error) {
            try session.reselect()
            _ = try session.select(.application(application), answer: .fileControlInformation)
        } catch .status {
            throw .takesNoKey
        } catch {
            throw Self.failure(error)
        }
    }

    // MARK: Authentication

    /// Authenticates once: NonFirst where a session is open, else First.
    ///
    /// - Throws: ``TagError``; ``TagError/keyRefused``, ``TagError/key(_:)``.
    func authenticate(_ key: SecretBytes, number: UInt8) throws(TagError) {
        // Without the library, the tag is asked for nothing in vain.
        guard CryptoError.isLibraryThere else { throw .crypto(.libraryMissing) }
        let earlier = secure
        secure = nil
        let challenge = try begin(number, isFirst: earlier == nil)
        let run = try crypto { () throws(CryptoError) -> (any EV2Opening)? in
            LRPAuthentication.isChallenge(challenge)
                ? try LRPAuthentication(challenge: challenge, key: key, random: random())
                : try EV2Authentication(challenge: challenge, key: AESKey(key), random: random())
        }
        guard let run else { throw .takesNoKey }
        let second: ResponseAPDU
        do throws(TagError) {
            second = try send(EV2Code.more, run.reply)
        } catch {
            switch error {
            case .tagLost: throw .key(.interrupted(.noAnswer))
            case .transport(let cause): throw .key(.interrupted(cause))
            default: throw error
            }
        }
        switch second.status.rawValue {
        case EV2Status.success: break
        case EV2Status.delay: throw .key(.delayed)
        case EV2Status.denied: throw .key(.locked)
        default: throw .keyRefused
        }
        secure = try crypto { () throws(CryptoError) in try run.session(second.data, after: earlier) }
        guard secure != nil else { throw .keyRefused }
        keyNumber = number
    }

    /// Begins an authentication and returns the tag's challenge.
    private func begin(_ number: UInt8, isFirst: Bool) throws(TagError) -> [UInt8] {
        let answer = isFirst ? try first(number) : try send(EV2Code.nonFirst, [number])
        switch answer.status.rawValue {
        case EV2Status.more: return answer.data
        case EV2Status.noSuchKey, EV2Status.parameter: throw .key(.noSuchKey(number))
        case EV2Status.delay: throw .key(.delayed)
        case EV2Status.denied: throw .key(.locked)
        default: throw .takesNoKey
        }
    }

    /// Begins in the mode that the tag is in.
    ///
    /// By the data sheet (table 19), a tag in LRP mode refuses to begin with AES. Some begin with LRP all the same, but were
    /// not told that the reader can do that, so that it is begun once more.
    private func first(_ number: UInt8) throws(TagError) -> ResponseAPDU {
        if isLRP != true {
            let answer = try send(EV2Code.first, [number, 0x00])
            let mayBeLRP =
                answer.status.rawValue == EV2Status.denied
                || answer.status.rawValue == EV2Status.more && LRPAuthentication.isChallenge(answer.data)
            guard mayBeLRP, isLRP == nil else {
                if answer.status.rawValue == EV2Status.more { isLRP = false }
                return answer
            }
        }
        let answer = try send(EV2Code.first, [number] + LRPAuthentication.capabilities)
        if answer.status.rawValue == EV2Status.more { isLRP = LRPAuthentication.isChallenge(answer.data) }
        return answer
    }

    /// Finds out whether the tag is in LRP mode, with the first half of an authentication, which proves nothing and is not
    /// counted; `false` for a tag that begins none.
    func askMode() throws(TagError) -> Bool {
        secure = nil
        _ = try first(0)
        return isLRP ?? false
    }

    /// Switches to LRP mode, forever; the session ends.
    func switchToLRP() throws(TagError) {
        _ = try ask(.configureLRP, [0x05], data: [0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0])
        isLRP = true
    }

    // MARK: Commands

    /// Sends a command in the session and returns the data of its answer.
    ///
    /// - Parameters:
    ///   - header: what is never enciphered.
    ///   - file: the mode that a file's settings give, for a command that depends on it.
    func ask(
        _ command: EV2Command, _ header: [UInt8], data: [UInt8] = [], file: EV2Session.Mode = .plain
    ) throws(TagError) -> [UInt8] {
        guard var next = secure else { throw .keyRefused }
        // After an error the session is over.
        secure = nil
        let mode = command.mode(file)
        let sent = try crypto { () throws(CryptoError) in
            try next.command(command.code, header: header, data: data, mode)
        }
        let response = try send(command.code, sent)
        guard response.status.rawValue == EV2Status.success else { throw Self.refusal(command.code, response.status) }
        if command.proof == .none { return [] }
        if command.proof == .optional, response.data.isEmpty {
            next.counter &+= 1
            secure = next
            return []
        }
        let content = try crypto { () throws(CryptoError) in try next.answer(response.data, mode) }
        guard let content else { throw .badAnswer }
        secure = next
        return content
    }

    /// Sends a command outside of a session and returns the data of its answer.
    func askPlain(_ code: UInt8, _ data: [UInt8], expecting status: UInt16 = EV2Status.success) throws(TagError)
        -> [UInt8]
    {
        let response = try send(code, data)
        guard response.status.rawValue == status else { throw Self.refusal(code, response.status) }
        return response.data
    }

    private static func refusal(_ code: UInt8, _ status: StatusWord) -> TagError {
        .iso7816(.status(Instruction(rawValue: code), status))
    }

    private func send(_ code: UInt8, _ data: [UInt8]) throws(TagError) -> ResponseAPDU {
        do throws(ISO7816Error) {
            return try session.transmitOnce(
                CommandAPDU(Instruction(rawValue: code), cla: 0x90, data: data, ne: 0x100, lengthForm: .short))
        } catch {
            throw Self.failure(error)
        }
    }

    static func failure(_ error: ISO7816Error) -> TagError {
        switch error {
        case .transport(.cancelled): .cancelled
        case .transport(.noAnswer), .transport(.cardReleased), .otherCard: .tagLost
        case .transport(let error): .transport(error)
        default: .iso7816(error)
        }
    }

    private func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(TagError) -> Value {
        do throws(CryptoError) {
            return try body()
        } catch {
            throw .crypto(error)
        }
    }

    // MARK: Files

    /// The longest part of a file in one command: with padding and code it fits into a short answer.
    private static let part = 128

    /// Reads bytes of a file.
    func read(_ file: NTAG424File, from offset: Int = 0, count: Int) throws(TagError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let mode = file.mode(of: [file.read, file.readWrite], key: keyNumber ?? 0x0F)
            let wanted = min(Self.part, count - bytes.count)
            let header = [file.number] + Self.field(offset + bytes.count) + Self.field(wanted)
            let part = try ask(.read, header, file: mode)
            guard part.count == wanted else { throw .badAnswer }
            bytes += part
        }
        return bytes
    }

    /// Writes bytes of a file.
    func write(_ file: NTAG424File, at offset: Int, _ bytes: [UInt8]) throws(TagError) {
        var done = 0
        let mode = file.mode(of: [file.write, file.readWrite], key: keyNumber ?? 0x0F)
        while done < bytes.count {
            let part = Array(bytes.dropFirst(done).prefix(Self.part))
            let header = [file.number] + Self.field(offset + done) + Self.field(part.count)
            _ = try ask(.write, header, data: part, file: mode)
            done += part.count
        }
    }

    /// Three bytes, least significant first.
    private static func field(_ number: Int) -> [UInt8] {
        (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// The codes that open a session.
private enum EV2Code {
    static let first: UInt8 = 0x71
    static let nonFirst: UInt8 = 0x77
    static let more: UInt8 = 0xAF
}
