// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto

/// An authenticated session: what it adds to commands, and what it checks and takes off their answers.
///
/// After an error a session is over; it is not used again.
protocol DESFireSession {
    /// Returns the data field of a command.
    ///
    /// - Parameters:
    ///   - header: what is never enciphered.
    ///   - data: what may be enciphered.
    ///   - tail: what follows the checksum of enciphered data: with a key change, that of the new key.
    ///   - file: the mode of the file, for a command that depends on it.
    mutating func command(
        _ command: DESFireCommand, _ header: [UInt8], data: [UInt8], tail: [UInt8], _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8]

    /// Returns the data of an answer with status 00; `nil` if its code, checksum or padding is wrong.
    ///
    /// - Parameter count: the length of enciphered data, where the session's padding does not say it.
    mutating func answer(
        _ command: DESFireCommand, _ answer: [UInt8], count: Int, _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8]?
}

extension DESFireCommand.Protection {
    /// The mode for a file's mode.
    fileprivate func mode(_ file: DESFireMode) -> DESFireMode {
        switch self {
        case .mac: .plain
        case .file: file
        case .full: .full
        }
    }
}

/// A session as MF3ICD40 has it, with DES or two-key Triple DES: four bytes of a code over the data alone, each message on its
/// own, and nothing around commands without data of a file.
struct DESFireD40Session: DESFireSession {
    let cipher: DESFireCipher

    /// The length of a code in bytes.
    private static let codeLength = 4

    private func code(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        let chain = try cipher.encrypt(cipher.padded(data), after: cipher.zeros)
        return Array(chain.suffix(cipher.blockLength).prefix(Self.codeLength))
    }

    mutating func command(
        _ command: DESFireCommand, _ header: [UInt8], data: [UInt8], tail: [UInt8], _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8] {
        switch command.sent.mode(file) {
        case .plain: return header + data
        case .mac: return header + data + (try code(data))
        case .full:
            return header + (try cipher.prepared(cipher.padded(data + DESFireChecksum.short(data) + tail)))
        }
    }

    mutating func answer(
        _ command: DESFireCommand, _ answer: [UInt8], count: Int, _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8]? {
        switch command.answered.mode(file) {
        case .plain: return answer
        case .mac:
            let data = Array(answer.dropLast(Self.codeLength))
            guard answer.count >= Self.codeLength else { return nil }
            return try code(data).elementsEqual(answer.suffix(Self.codeLength)) ? data : nil
        case .full:
            guard answer.count.isMultiple(of: cipher.blockLength) else { return nil }
            let plain = try cipher.decrypt(answer, after: cipher.zeros)
            return plain.checked(count, checksum: DESFireChecksum.short, longest: cipher.blockLength)
        }
    }
}

/// A session that began with AuthenticateISO or AuthenticateAES: everything that is not enciphered runs through one CMAC,
/// whose value starts the next message.
struct DESFireEV1Session: DESFireSession {
    let cipher: DESFireCipher
    /// The starting value of the next message.
    private(set) var start: [UInt8]

    /// The length of a code in bytes.
    private static let codeLength = 8

    init(cipher: DESFireCipher) { (self.cipher, start) = (cipher, cipher.zeros) }

    /// Returns the code of a message, and starts the next one with it.
    private mutating func code(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        start = try cipher.cmac(message, after: start)
        return Array(start.prefix(Self.codeLength))
    }

    mutating func command(
        _ command: DESFireCommand, _ header: [UInt8], data: [UInt8], tail: [UInt8], _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8] {
        let message = [command.code] + header + data
        switch command.sent.mode(file) {
        case .plain:
            _ = try code(message)
            return header + data
        case .mac: return header + data + (try code(message))
        case .full:
            let body = cipher.padded(data + DESFireChecksum.long(message) + tail)
            let encrypted = try cipher.encrypt(body, after: start)
            start = encrypted.suffix(cipher.blockLength)
            return header + encrypted
        }
    }

    mutating func answer(
        _ command: DESFireCommand, _ answer: [UInt8], count: Int, _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8]? {
        if command.isLast { return answer }
        guard command.answered.mode(file) == .full else {
            let data = Array(answer.dropLast(Self.codeLength))
            guard answer.count >= Self.codeLength else { return nil }
            let code = try code(data + [DESFireStatus.success])
            return code.elementsEqual(answer.suffix(Self.codeLength)) ? data : nil
        }
        guard !answer.isEmpty, answer.count.isMultiple(of: cipher.blockLength) else { return nil }
        let plain = try cipher.decrypt(answer, after: start)
        start = answer.suffix(cipher.blockLength)
        return plain.checked(
            count, checksum: { DESFireChecksum.long($0 + [DESFireStatus.success]) }, longest: cipher.blockLength)
    }
}

extension [UInt8] {
    /// The data before a checksum and padding of zeros, which 80 may precede; `nil` if they are not there.
    ///
    /// - Parameter longest: the longest padding.
    fileprivate func checked(_ count: Int, checksum: ([UInt8]) -> [UInt8], longest: Int) -> [UInt8]? {
        guard count >= 0, count <= self.count else { return nil }
        let data = Array(prefix(count))
        let wanted = checksum(data)
        guard dropFirst(count).starts(with: wanted) else { return nil }
        let padding = dropFirst(count + wanted.count)
        let zeros = padding.first == 0x80 ? padding.dropFirst() : padding
        return padding.count <= longest && zeros.allSatisfy { $0 == 0 } ? data : nil
    }
}

/// A session that began with AuthenticateEV2First or NonFirst, as NTAG 424 DNA has them.
struct DESFireEV2Session: DESFireSession {
    var session: EV2Session

    private func mode(_ command: DESFireCommand, _ file: DESFireMode) -> EV2Session.Mode {
        if command.dependsOnFile { return EV2Session.Mode(option: file.rawValue) }
        return [command.sent, command.answered].contains(.full) ? .full : .mac
    }

    mutating func command(
        _ command: DESFireCommand, _ header: [UInt8], data: [UInt8], tail: [UInt8], _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8] {
        try session.command(command.code, header: header, data: data + tail, mode(command, file))
    }

    mutating func answer(
        _ command: DESFireCommand, _ answer: [UInt8], count: Int, _ file: DESFireMode
    ) throws(CryptoError) -> [UInt8]? {
        if command.isLast { return answer }
        return try session.answer(answer, mode(command, file))
    }
}
