// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
internal import CardModel
internal import ISO7816
internal import ReaderCore

/// The commands of a DESFire, with and without a session of one of its keys.
///
/// Commands are wrapped as ISO 7816 APDUs, which every reader carries, and cut into frames of the length that every
/// generation takes.
final class DESFireLink {
    let session: ISO7816Session
    /// The session of a key; `nil` without one, and after any error.
    private(set) var secure: (any DESFireSession)?
    private var opener: UInt8?
    /// The number of the key that opened the session; `nil` without one.
    var keyNumber: UInt8? { secure == nil ? nil : opener }
    /// The source of RndA.
    var random: (Int) -> [UInt8] = { count in (0..<count).map { _ in .random(in: .min ... .max) } }

    /// The longest data of a command's frame in bytes.
    private static let frame = 54

    init(session: ISO7816Session) { self.session = session }

    /// Whether the session is one of EV2, in which a file's data needs no frames.
    var isEV2: Bool { secure is DESFireEV2Session }

    /// Selects an application, which ends a session and a transaction.
    ///
    /// - Throws: ``DESFireError/noSuchApplication(_:)``, ``DESFireError/tag(_:)``.
    func select(_ application: DESFireApplicationID) throws(DESFireError) {
        secure = nil
        do throws(ISO7816Error) {
            try session.reselect()
        } catch {
            throw .tag(NTAG424Link.failure(error))
        }
        let answer = try exchange(DESFireLink.selectCode, application.bytes)
        switch answer.status {
        case DESFireStatus.success: break
        case DESFireStatus.noSuchApplication: throw .noSuchApplication(application)
        default: throw .refused(command: DESFireLink.selectCode, status: answer.status)
        }
    }

    /// SelectApplication, which no session changes.
    private static let selectCode: UInt8 = 0x5A
    /// AdditionalFrame.
    private static let moreCode: UInt8 = 0xAF
    /// AuthenticateEV2NonFirst.
    private static let nonFirstCode: UInt8 = 0x77

    // MARK: Authentication

    /// Authenticates once: with EV2, NonFirst where a session is open in the application, else First.
    ///
    /// - Returns: `false` if the application begins no such authentication, so that nothing was proved.
    /// - Throws: ``DESFireError/wrongKey``, ``DESFireError/noSuchKey(_:)``, ``DESFireError/tag(_:)``.
    func authenticate(
        _ key: DESFireKey, _ type: DESFireKeyType, _ method: DESFireAuthenticationMethod
    ) throws(DESFireError) -> Bool {
        // NonFirst goes on with a session of EV2.
        var earlier = method == .ev2 ? secure as? DESFireEV2Session : nil
        secure = nil
        // Without OpenSSL there is no AES: found before anything is sent.
        _ = try crypto { () throws(CryptoError) in try key.cipher(type) }
        var first =
            try earlier == nil
            ? send(method.code, method == .ev2 ? [key.number, 0x00] : [key.number])
            : send(Self.nonFirstCode, [key.number])
        if earlier != nil, ![DESFireStatus.more, DESFireStatus.noSuchKey, DESFireStatus.delay].contains(first.status) {
            // The card has no such session, or does not know the command.
            earlier = nil
            first = try send(method.code, [key.number, 0x00])
        }
        switch first.status {
        case DESFireStatus.more: break
        case DESFireStatus.noSuchKey: throw .noSuchKey(key.number)
        case DESFireStatus.delay: throw .tag(.key(.delayed))
        default: return false
        }
        let run = try crypto { () throws(CryptoError) in
            try DESFireAuthentication(
                method, challenge: first.data, key: key, type, random: random(DESFireAuthentication.randomLength(type)))
        }
        guard let run else { return false }
        let second = try send(Self.moreCode, run.reply)
        guard second.status == DESFireStatus.success else { throw .wrongKey }
        secure = try crypto { () throws(CryptoError) in try run.session(second.data, after: earlier) }
        guard secure != nil else { throw .wrongKey }
        opener = key.number
        return true
    }

    // MARK: Commands

    /// Sends a command, in the session if there is one, and returns the data of its answer.
    ///
    /// - Parameters:
    ///   - header: what is never enciphered.
    ///   - data: what may be enciphered.
    ///   - count: the length of enciphered data in the answer.
    ///   - file: the mode of the file, for a command that depends on it.
    /// - Throws: ``DESFireError/refused(command:status:)``, ``DESFireError/tag(_:)``. Either ends the session.
    func ask(
        _ command: DESFireCommand, _ header: [UInt8] = [], data: [UInt8] = [], tail: [UInt8] = [], count: Int = 0,
        _ file: DESFireMode = .plain
    ) throws(DESFireError) -> [UInt8] {
        guard var next = secure else {
            let answer = try exchange(command.code, header + data, isWhole: command.isWhole)
            guard answer.status == DESFireStatus.success else {
                throw .refused(command: command.code, status: answer.status)
            }
            return answer.data
        }
        secure = nil
        let sent = try crypto { () throws(CryptoError) in
            try next.command(command, header, data: data, tail: tail, file)
        }
        let answer = try exchange(command.code, sent, isWhole: command.isWhole)
        guard answer.status == DESFireStatus.success else {
            throw .refused(command: command.code, status: answer.status)
        }
        let content = try crypto { () throws(CryptoError) in
            try next.answer(command, answer.data, count: count, file)
        }
        guard let content else { throw .tag(.badAnswer) }
        if !command.isLast { secure = next }
        return content
    }

    /// Sends a command without a session in parts of its answer, as GetVersion and GetDFNames give one a frame.
    ///
    /// - Parameter atMost: the number of frames.
    func frames(_ command: DESFireCommand, atMost: Int) throws(DESFireError) -> [[UInt8]] {
        secure = nil
        var answer = try send(command.code, [])
        var frames = [answer.data]
        while answer.status == DESFireStatus.more {
            guard frames.count < atMost else { throw .tag(.badAnswer) }
            answer = try send(Self.moreCode, [])
            frames.append(answer.data)
        }
        guard answer.status == DESFireStatus.success else {
            throw .refused(command: command.code, status: answer.status)
        }
        return frames
    }

    /// Sends a command that needs no session and whose answer has a status of its own.
    func askOnce(_ code: UInt8, _ data: [UInt8]) throws(DESFireError) -> (data: [UInt8], status: UInt8) {
        secure = nil
        return try send(code, data)
    }

    // MARK: Frames

    /// The most that an answer in frames can have: a file's part with checksum, padding and code.
    private static let longestAnswer = 0x2000

    private func exchange(
        _ code: UInt8, _ data: [UInt8], isWhole: Bool = false
    ) throws(DESFireError) -> (data: [UInt8], status: UInt8) {
        var rest = data[...]
        func next() -> [UInt8] {
            let part = Array(rest.prefix(isWhole ? data.count : Self.frame))
            rest = rest.dropFirst(part.count)
            return part
        }
        var answer = try send(code, next())
        while !rest.isEmpty, answer.status == DESFireStatus.more {
            guard answer.data.isEmpty else { throw .tag(.badAnswer) }
            answer = try send(Self.moreCode, next())
        }
        // A command that was answered before its end was refused, or was not understood.
        guard rest.isEmpty || answer.status != DESFireStatus.success else { throw .tag(.badAnswer) }
        var bytes = answer.data
        while answer.status == DESFireStatus.more {
            guard !answer.data.isEmpty, bytes.count <= Self.longestAnswer else { throw .tag(.badAnswer) }
            answer = try send(Self.moreCode, [])
            bytes += answer.data
        }
        return (bytes, answer.status)
    }

    /// Sends one frame.
    private func send(_ code: UInt8, _ data: [UInt8]) throws(DESFireError) -> (data: [UInt8], status: UInt8) {
        let response: ResponseAPDU
        do throws(ISO7816Error) {
            response = try session.transmitOnce(
                CommandAPDU(Instruction(rawValue: code), cla: 0x90, data: data, ne: 0x100, lengthForm: .short))
        } catch {
            throw .tag(NTAG424Link.failure(error))
        }
        let status = response.status.rawValue
        guard status >> 8 == 0x91 else { throw .tag(.iso7816(.status(Instruction(rawValue: code), response.status))) }
        return (response.data, UInt8(truncatingIfNeeded: status))
    }

    private func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(DESFireError) -> Value {
        do throws(CryptoError) {
            return try body()
        } catch {
            throw .tag(.crypto(error))
        }
    }
}
