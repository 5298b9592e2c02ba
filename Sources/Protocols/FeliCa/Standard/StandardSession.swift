// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCrypto
package import CardModel
internal import ReaderCore

/// Why services of a FeliCa Standard could not be opened, or were not read.
package enum StandardError: Error, Hashable, Sendable {
    /// An exchange failed, or the card refused a command.
    case command(FeliCaError)
    /// The card did not answer this command of the authentication or the session: it left, has no such nodes, or does not
    /// accept what was sent.
    case silence(CommandCode)
    /// The card's proof does not fit the keys. Nothing was proved to it.
    case wrongKey
    /// The card answers every authentication with zeros, as a FeliCa Lite-S does.
    case noAuthentication
    /// An answer of the session was not made with its key, or does not belong to the command.
    case forged(CommandCode)
    /// The session has no transaction number left.
    case exhausted
    /// AES is not available.
    case crypto(CryptoError)
}

/// An open session with some services of a system: the card and the reader proved to each other that they have the keys.
///
/// Each command is sent once: a card answers a repeated one no more. When an answer is lost, open a new session.
package struct StandardSession {
    package let system: FeliCaSystem
    package let access: StandardAccess
    package let issue: SystemIssue
    private let messaging: any StandardMessaging
    /// The highest transaction number so far.
    private var number: UInt16

    /// Opens a session. Authentication2 is sent only after the card proved its keys.
    ///
    /// - Parameter random: makes so many random bytes.
    /// - Throws: ``StandardError``.
    package init(
        _ access: StandardAccess, on system: FeliCaSystem,
        random: (Int) -> [UInt8] = { (0..<$0).map { _ in UInt8.random(in: .min ... .max) } }
    ) throws(StandardError) {
        let codes: (first: CommandCode, second: CommandCode) =
            access.scheme == .des
            ? (.authentication1, .authentication2) : (.authentication1V2, .authentication2V2)
        let time = system.times.maximum(.authentication, units: access.areas.count + access.nodes.count)
        let handshake = try Self.handshake(access, system.idm, random)
        let frame = try system.exchange(
            codes.first, Self.list(access) + handshake.challenge, max(time, .milliseconds(2)))
        let answer = try Self.fields(frame, codes.first, system.idm)
        guard answer.count == (access.scheme == .des ? DESHandshake.answerLength : AESHandshake.answerLength) else {
            throw .command(.malformed(codes.first, .length(declared: frame.count, received: answer.count)))
        }
        guard answer.contains(where: { $0 != 0 }) else { throw .noAuthentication }
        guard let (proof, messaging) = try standard({ () throws(CryptoError) in try handshake.session(answer: answer) })
        else { throw .wrongKey }
        let last = try system.exchange(codes.second, proof, max(time, .milliseconds(2)))
        let message = try Self.open(last, codes.second, messaging)
        guard message.payload.count == 16,
            let issue = SystemIssue(id: Array(message.payload.prefix(8)), parameter: Array(message.payload.suffix(8)))
        else { throw .forged(codes.second) }
        self.issue = issue
        number = message.number
        (self.system, self.access, self.messaging) = (system, access, messaging)
    }

    private static func handshake(
        _ access: StandardAccess, _ idm: IDm, _ random: (Int) -> [UInt8]
    ) throws(StandardError) -> any StandardHandshake {
        switch access.scheme {
        case .des: DESHandshake(access.key, idm: idm, random: random(8))
        case .aes:
            try standard { () throws(CryptoError) in try AESHandshake(access.key, idm: idm, random: random(16)) }
        }
    }

    /// The lists of Authentication1.
    private static func list(_ access: StandardAccess) -> [UInt8] {
        switch access.scheme {
        case .des: access.areas.countedWireBytes + access.nodes.countedWireBytes
        // The operation parameter has one known value.
        case .aes: [0x00] + access.nodes.countedWireBytes
        }
    }

    /// What follows the IDm in an answer.
    private static func fields(_ frame: [UInt8], _ code: CommandCode, _ idm: IDm?) throws(StandardError) -> [UInt8] {
        do throws(FeliCaError) {
            var reader = try AnswerReader(frame, to: code, from: idm)
            return reader.rest()
        } catch {
            throw .command(error)
        }
    }

    private static func open(
        _ frame: [UInt8], _ code: CommandCode, _ messaging: any StandardMessaging
    ) throws(StandardError) -> StandardMessage {
        _ = try fields(frame, code, nil)
        let response = UInt8(truncatingIfNeeded: code.response.rawValue)
        let message = try standard { () throws(CryptoError) in try messaging.open(frame, code: response) }
        guard let message else { throw .forged(code) }
        return message
    }

    /// Sends one command of the session and reads its answer.
    ///
    /// - Returns: the payload, with DES perhaps with up to seven bytes of padding.
    /// - Throws: ``StandardError``; the session is then of no more use.
    package mutating func exchange(
        _ code: CommandCode, _ payload: [UInt8], _ time: Duration
    ) throws(StandardError) -> [UInt8] {
        // The card's answer needs a higher number, and FFFF is none.
        guard number < 0xFFFD else { throw .exhausted }
        let own = number + 1
        let sealed = try standard { () throws(CryptoError) in
            try messaging.seal(payload, code: UInt8(truncatingIfNeeded: code.rawValue), number: own)
        }
        guard let sealed else { throw .command(.invalidArgument(.packetTooLong(payload.count))) }
        let frame = try system.exchange(frame: sealed, code, time)
        let message = try Self.open(frame, code, messaging)
        guard message.number > own else { throw .forged(code) }
        number = message.number
        return message.payload
    }

    /// Reads blocks of the session's services.
    ///
    /// - Parameter blocks: 1 to 14 (DES) or 15 (AES); each names a service by its index in ``StandardAccess/nodes``.
    /// - Throws: ``StandardError``; after a refusal (`FeliCaError.status`) the session goes on, after any other error it is
    ///   of no more use.
    package mutating func read(_ blocks: BlockList) throws(StandardError) -> [Block] {
        let scheme = access.scheme
        do throws(FeliCaError) {
            try blocks.validate(
                serviceCount: access.nodes.count, allowed: 1...scheme.blocksPerRead(answeredIn: 255))
        } catch {
            throw .command(error)
        }
        let code: CommandCode = scheme == .des ? .read : .readV2
        let answer = try exchange(
            code, [UInt8(truncatingIfNeeded: blocks.count)] + blocks.bytes,
            system.times.maximum(.read, units: blocks.count))
        guard answer.count >= 2 else { throw .forged(code) }
        guard answer[0] == 0 else { throw .command(.status(StatusFlags(answer[0], answer[1]))) }
        let data = answer.dropFirst(3)
        let padding = data.count - 16 * blocks.count
        guard answer.count > 2, Int(answer[2]) == blocks.count, (0..<(scheme == .des ? 8 : 1)).contains(padding) else {
            throw .forged(code)
        }
        let read = (0..<blocks.count).compactMap { Block(data.dropFirst(16 * $0).prefix(16)) }
        guard read.count == blocks.count else { throw .forged(code) }
        return read
    }

    /// Writes blocks of the session's services with one command: all or none.
    ///
    /// - Parameters:
    ///   - blocks: 1 to 12 (DES) or 13 (AES), fewer with numbers above 255; each names a service by its index in
    ///     ``StandardAccess/nodes``.
    ///   - data: one block for each element.
    /// - Returns: the flags: 00 00, or a warning (``StatusFlags/isWarning``) although the data was written.
    /// - Throws: ``StandardError``. After a refusal (`FeliCaError.status`) nothing was written and the session goes on, nor
    ///   was anything sent if it is `FeliCaError.invalidArgument`. After any other error it is unknown whether the card
    ///   wrote: open a new session and read.
    @discardableResult
    package mutating func write(_ blocks: BlockList, _ data: [Block]) throws(StandardError) -> StatusFlags {
        do throws(FeliCaError) {
            try blocks.validate(serviceCount: access.nodes.count, allowed: 1...13)
            guard data.count == blocks.count else {
                throw .invalidArgument(.count(.blockData, data.count, allowed: blocks.count...blocks.count))
            }
        } catch {
            throw .command(error)
        }
        let code: CommandCode = access.scheme == .des ? .write : .writeV2
        let answer = try exchange(
            code, [UInt8(truncatingIfNeeded: blocks.count)] + blocks.bytes + data.flatMap(\.bytes),
            system.times.maximum(.write, units: blocks.count))
        guard answer.count == (access.scheme == .des ? 8 : 2) else { throw .forged(code) }
        let flags = StatusFlags(answer[0], answer[1])
        guard flags.flag1 == 0 || flags.isWarning else { throw .command(.status(flags)) }
        return flags
    }
}

extension FeliCaSystem {
    fileprivate func exchange(
        _ code: CommandCode, _ parameters: [UInt8], _ time: Duration
    ) throws(StandardError) -> [UInt8] {
        var packet = ByteWriter([0] + code.bytes)
        packet.write(idm.rawValue, .big)
        packet.write(parameters)
        var frame = packet.bytes
        guard let length = UInt8(exactly: frame.count) else {
            throw .command(.invalidArgument(.packetTooLong(frame.count)))
        }
        frame[0] = length
        return try exchange(frame: frame, code, time)
    }

    fileprivate func exchange(
        frame: [UInt8], _ code: CommandCode, _ time: Duration
    ) throws(StandardError) -> [UInt8] {
        do throws(FeliCaError) {
            return try channel.exchange(frame, timeout: time)
        } catch {
            throw error.isSilence ? .silence(code) : .command(error)
        }
    }
}

/// Runs work of the ciphers.
private func standard<Value>(_ work: () throws(CryptoError) -> Value) throws(StandardError) -> Value {
    do throws(CryptoError) {
        return try work()
    } catch {
        throw .crypto(error)
    }
}
