// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardCrypto
package import CardModel

/// Secure messaging with a card: commands and answers whose data is encrypted.
///
/// Plain text passes neither the reader nor a trace. After an error, nothing that follows can be relied on: the caller stops.
package final class SecureMessaging {
    /// What is protected, and how.
    private enum Protection {
        /// Residence cards: CLA 08, the data in an object 86 (`86 L 01 cipher`), what is wanted in an object 96; no codes.
        case encrypted(SessionCipher)
        /// Passports: CLA 0C, objects 87, 97 and 8E with codes over a counter (ICAO Doc 9303-11 §9.8).
        case authenticated(SessionCipher, codes: SessionCipher)
    }

    package let session: ISO7816Session
    private let protection: Protection
    /// The send sequence counter.
    private var counter: UInt64
    /// How files are read, once that is known.
    var readForm: ReadForm?
    /// Whether the card ended the session: it answered a protected command in the clear. Nothing more can be sent in it.
    package private(set) var isOver = false
    /// The last answer as the card sent it, with its status word; empty before there is one.
    private(set) var lastAnswer: [UInt8] = []

    /// A residence card's session, whose one key comes from the seed of the authentication.
    package init(
        encrypting session: ISO7816Session, _ kind: SessionCipher.Kind, seed: [UInt8]
    ) throws(CryptoError) {
        self.session = session
        protection = .encrypted(try SessionCipher(kind, key: SessionCipher.derived(from: seed, counter: 1)))
        counter = 0
    }

    /// A passport's session after BAC.
    package init(
        authenticating session: ISO7816Session, _ outcome: MutualAuthentication.Outcome
    ) throws(CryptoError) {
        self.session = session
        protection = .authenticated(
            try SessionCipher(.tripleDES, key: SessionCipher.derived(from: outcome.seed, counter: 1)),
            codes: try SessionCipher(.tripleDES, key: SessionCipher.derived(from: outcome.seed, counter: 2)))
        counter = (outcome.challenge.suffix(4) + outcome.random.suffix(4)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A passport's session after PACE or chip authentication.
    ///
    /// - Parameter secret: what both sides agreed on.
    package init(
        authenticating session: ISO7816Session, _ cipher: ChipCipher, secret: [UInt8]
    ) throws(CryptoError) {
        self.session = session
        protection = .authenticated(
            try SessionCipher(cipher, from: secret, purpose: 1),
            codes: try SessionCipher(cipher, from: secret, purpose: 2))
        counter = 0
    }

    /// Sends nothing more in this session, after an answer that cannot be relied on.
    package func end() { isOver = true }

    /// The counter as codes cover it: as long as a block.
    private func counterBlock(_ cipher: SessionCipher) -> [UInt8] {
        [UInt8](repeating: 0, count: cipher.blockLength - 8) + counter.block
    }

    /// Block length and overhead of an answer: how many plain bytes fit into an answer of this length, status word included.
    func longestPlain(inAnswerOf length: Int) -> Int {
        let block =
            switch protection {
            case .encrypted(let cipher), .authenticated(let cipher, _): cipher.blockLength
            }
        // Status word; tag, length up to four bytes and indicator; objects 99 and 8E of passports.
        let overhead: Int = if case .encrypted = protection { 7 } else { 21 }
        let room = length - overhead
        return max(1, room / block * block - 1)
    }

    /// Sends a command and returns its decrypted answer, whatever its status word.
    ///
    /// - Parameters:
    ///   - data: the plain data; empty for none.
    ///   - wanted: the number of plain bytes to return, 0 for all; `nil` for none.
    ///   - lengthForm: of Lc and Le.
    package func transmit(
        _ ins: Instruction, p1: UInt8 = 0, p2: UInt8 = 0, data: [UInt8] = [], wanted: Int? = nil,
        lengthForm: APDULengthForm = .short
    ) throws(SecureMessagingError) -> ResponseAPDU {
        do {
            guard !isOver else { throw SecureMessagingError.malformed(.objects) }
            let command = try protected(ins, p1, p2, data, wanted, lengthForm)
            let response: ResponseAPDU
            if case .authenticated = protection {
                // The same command cannot be sent again: each counts.
                response = try session.transmitProtected(command)
            } else {
                response = lengthForm == .extended ? try session.transmitOnce(command) : try session.transmit(command)
            }
            lastAnswer = response.data + [response.status.sw1, response.status.sw2]
            return try opened(response)
        } catch {
            throw SecureMessagingError(error)
        }
    }

    // MARK: Commands

    private func protected(
        _ ins: Instruction, _ p1: UInt8, _ p2: UInt8, _ data: [UInt8], _ wanted: Int?, _ form: APDULengthForm
    ) throws(CryptoError) -> CommandAPDU {
        let expected = wanted == nil ? 0 : form == .extended ? 0x10000 : 0x100
        switch protection {
        case .encrypted(let cipher):
            var objects: [UInt8] = []
            if !data.isEmpty { objects += BERTLV(0x86, [1] + (try cipher.encrypt(cipher.padded(data)))).encoded }
            if let wanted {
                let count = UInt16(clamping: wanted)
                objects += BERTLV(0x96, [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]).encoded
            }
            return CommandAPDU(
                ins, cla: 0x08, p1: p1, p2: p2, data: objects, ne: expected, lengthForm: form)
        case .authenticated(let cipher, let codes):
            counter &+= 1
            let counter = counterBlock(cipher)
            var objects: [UInt8] = []
            if !data.isEmpty {
                // Data of an odd instruction consists of objects, which go without a padding indicator.
                let text = try cipher.encrypt(cipher.padded(data), after: cipher.start(counter))
                objects += (ins.isOdd ? BERTLV(0x85, text) : BERTLV(0x87, [1] + text)).encoded
            }
            if let wanted {
                let low = UInt8(truncatingIfNeeded: wanted)
                let isLong = form == .extended
                objects += BERTLV(0x97, isLong ? [UInt8(truncatingIfNeeded: wanted >> 8), low] : [low]).encoded
            }
            let header: [UInt8] = [0x0C, ins.rawValue, p1, p2]
            // Without objects the padding of the whole is the header's.
            let code = try codes.paddedCode(counter + (objects.isEmpty ? header : cipher.padded(header) + objects))
            return CommandAPDU(
                ins, cla: 0x0C, p1: p1, p2: p2, data: objects + BERTLV(0x8E, code).encoded,
                ne: form == .extended ? 0x10000 : 0x100, lengthForm: form)
        }
    }

    // MARK: Answers

    private func opened(_ response: ResponseAPDU) throws(any Error) -> ResponseAPDU {
        switch protection {
        case .encrypted(let cipher):
            guard !response.data.isEmpty else { return response }
            return ResponseAPDU(
                data: try Self.plain(in: response.data, tag: 0x86, cipher, nil), status: response.status)
        case .authenticated(let cipher, let codes): return try checked(response, cipher, codes)
        }
    }

    /// The plain text of exactly one data object.
    private static func plain(
        in data: [UInt8], tag: BERTag, _ cipher: SessionCipher, _ start: [UInt8]?
    ) throws(any Error) -> [UInt8] {
        let list = BERTLVList(tolerant: data)
        guard list.fault == nil, list.objects.count == 1, let object = list.objects.first, object.tag == tag,
            (try? BERHeader(data))?.totalLength == data.count
        else { throw SecureMessagingError.malformed(.objects) }
        return try plain(of: object, cipher, start)
    }

    private static func plain(
        of object: BERTLV, _ cipher: SessionCipher, _ start: [UInt8]?
    ) throws(any Error) -> [UInt8] {
        let isBare = object.tag == 0x85
        let text = isBare ? object.value : Array(object.value.dropFirst())
        guard isBare || object.value.first == 1, !text.isEmpty, text.count.isMultiple(of: cipher.blockLength) else {
            throw SecureMessagingError.malformed(.cipherText)
        }
        guard let plain = cipher.unpadded(try cipher.decrypt(text, after: start)) else {
            throw SecureMessagingError.malformed(.padding)
        }
        return plain
    }

    private func checked(
        _ response: ResponseAPDU, _ cipher: SessionCipher, _ codes: SessionCipher
    ) throws(any Error) -> ResponseAPDU {
        // An error of secure messaging, and whatever the card refuses before it, comes in the clear.
        guard !response.data.isEmpty else {
            isOver = true
            guard response.status != .success else { throw SecureMessagingError.malformed(.objects) }
            return response
        }
        let list = BERTLVList(tolerant: response.data)
        var objects = list.objects
        guard list.fault == nil, let code = objects.popLast(), code.tag == 0x8E, let status = objects.popLast(),
            status.tag == 0x99, status.value.count == 2, objects.count <= 1,
            objects.allSatisfy({ $0.tag == 0x87 || $0.tag == 0x85 })
        else { throw SecureMessagingError.malformed(.objects) }
        counter &+= 1
        let counter = counterBlock(cipher)
        let covered = counter + response.data.dropLast(code.encoded.count)
        guard try codes.paddedCode(covered) == code.value else { throw SecureMessagingError.malformed(.code) }
        guard status.value == [response.status.sw1, response.status.sw2] else {
            throw SecureMessagingError.malformed(.status)
        }
        let data = try objects.first.map { try Self.plain(of: $0, cipher, cipher.start(counter)) } ?? []
        return ResponseAPDU(data: data, status: response.status)
    }
}

extension Instruction {
    /// Whether its data consists of objects.
    fileprivate var isOdd: Bool { rawValue & 1 != 0 }
}

extension SecureMessagingError {
    /// An error of any of the layers below.
    init(_ error: any Error) {
        switch error {
        case let error as SecureMessagingError: self = error
        case let error as CryptoError: self = .crypto(error)
        case let error as ISO7816Error: self = .card(error)
        default: self = .malformed(.objects)
        }
    }
}
