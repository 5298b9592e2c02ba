// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import CardModel

/// Everything here is written by hand from ICAO Doc 9303-11 §4.4 and §6, so that a mistake of the reading side shows.
extension VirtualPassport {
    /// MSE:Set AT and GENERAL AUTHENTICATE in the clear; `nil` for other commands.
    mutating func paceReply(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply? {
        switch (command.classByte, command.instruction, command.parameters) {
        case (0x00, 0x22, 0xC1A4):
            endSession(on: &card)
            pace = nil
            return choosePACE(command, on: card)
        case (0x00, 0x86, 0), (0x10, 0x86, 0):
            guard pace != nil else { return FileCardReply(0x6985) }
            let reply = try? step(command, on: &card)
            if reply?.status != StatusWord.success { pace = nil }
            return reply ?? FileCardReply(0x6A80)
        default: return nil
        }
    }

    private mutating func choosePACE(_ command: CommandAPDU, on card: FileCardState) -> FileCardReply {
        guard command.expected == nil else { return FileCardReply(StatusWord.wrongLength) }
        guard let objects = ChipObject.all(command.data), objects.map(\.tag) == [0x80, 0x83, 0x84] else {
            return FileCardReply(0x6A87)
        }
        let (identifier, parameters) = (objects[0].value, objects[2].value)
        // What EF.CardAccess lists is spoken: the identifier, version 2 and the parameters.
        let entry =
            ChipObject.encoded([0x06], identifier) + [0x02, 0x01, 0x02] + ChipObject.encoded([0x02], parameters)
        let access = card.tree.masterFile.files.first { $0.id.rawValue == 0x011C }
        guard case .bytes(let listed)? = access?.content, identifier.count == 10, parameters.count == 1,
            listed.indices.contains(where: { listed[$0...].starts(with: entry) }),
            let group = ChipGroup(Int(parameters[0]))
        else { return FileCardReply(0x6A80) }
        let password: [UInt8]
        switch objects[1].value {
        case [1]: password = (try? Digest.sha1.hash(information)) ?? []
        case [2]:
            guard let number = accessNumber else { return FileCardReply(StatusWord.dataNotFound) }
            password = number
        default: return FileCardReply(StatusWord.dataNotFound)
        }
        pace = ChipPACE(identifier: identifier, group: group, password: password)
        return FileCardReply(triesLeft.map { StatusWord.triesLeft | UInt16($0) } ?? StatusWord.success)
    }

    /// A private key: below the order.
    private func privateKey(_ group: ChipGroup, on card: inout FileCardState) throws -> [UInt8] {
        try Modular.sum(card.randomBytes(group.order.count + 8), [0], group.order)
    }

    private mutating func step(_ command: CommandAPDU, on card: inout FileCardState) throws -> FileCardReply {
        guard var state = pace, command.expected != nil, let outer = ChipObject.all(command.data), outer.count == 1,
            outer[0].tag == 0x7C, let objects = ChipObject.all(outer[0].value)
        else { return FileCardReply(0x6A80) }
        let isLast = command.classByte == 0
        func answer(_ value: [UInt8]) -> FileCardReply { FileCardReply(ChipObject.encoded([0x7C], value)) }
        switch objects.first?.tag {
        case nil where !isLast && state.nonce.isEmpty:
            let isLong = (3...4).contains(state.mappingNumber) && state.cipher > 2
            state.nonce = card.randomBytes(isLong ? 32 : 16)
            let key = ChipPACE.key(state.password, 3, state.cipher)
            guard let text = ChipPACE.cipher(state.cipher).encrypt(key, state.nonce) else {
                return FileCardReply(0x6A80)
            }
            pace = state
            return answer(ChipObject.encoded([0x80], text))
        case 0x81 where !isLast && !state.nonce.isEmpty && state.generator.isEmpty:
            var reply: [UInt8] = []
            if (3...4).contains(state.mappingNumber) {
                guard let value = state.pseudorandom(objects[0].value) else { return FileCardReply(0x6A80) }
                state.generator = try state.group.integrated(value)
                reply = [0x82, 0]
            } else {
                let key = try privateKey(state.group, on: &card)
                let point = try state.group.times(state.group.generator, key)
                state.generator = try state.group.generic(state.nonce, key, objects[0].value)
                state.mapping = (key, point)
                reply = ChipObject.encoded([0x82], state.group.written(point))
            }
            pace = state
            return answer(reply)
        case 0x83 where !isLast && !state.generator.isEmpty && state.key.isEmpty:
            state.key = try privateKey(state.group, on: &card)
            state.own = try state.group.times(state.generator, state.key)
            state.theirs = objects[0].value
            pace = state
            return answer(ChipObject.encoded([0x84], state.group.written(state.own)))
        case 0x85 where isLast && !state.key.isEmpty: return try confirm(state, objects[0].value, on: &card)
        default: return FileCardReply(0x6A80)
        }
    }

    private mutating func confirm(
        _ state: ChipPACE, _ token: [UInt8], on card: inout FileCardState
    ) throws -> FileCardReply {
        let secret = state.group.secret(try state.group.times(state.theirs, state.key))
        guard state.token(secret, state.own) == token, let own = state.token(secret, state.theirs) else {
            guard let left = triesLeft else { return FileCardReply(StatusWord.mismatch) }
            triesLeft = max(1, left - 1)
            return FileCardReply(StatusWord.triesLeft | UInt16(left - 1))
        }
        if triesLeft != nil { triesLeft = 5 }
        var objects = ChipObject.encoded([0x86], own)
        let encryption = ChipPACE.key(secret, 1, state.cipher)
        if state.mappingNumber == 6, let mapping = state.mapping {
            guard let data = try proof(mapping.key, state.group) else { return FileCardReply(0x6A80) }
            var padded = data + [0x80]
            while padded.count % 16 != 0 { padded.append(0) }
            let key = try AESKey(SecretBytes(encryption))
            let start = try key.encrypt([UInt8](repeating: 0xFF, count: 16))
            objects += ChipObject.encoded([0x8A], try key.encrypt(padded, after: start))
        }
        pace = nil
        session = newSession(secret, state.cipher)
        card.verified.insert(VirtualPassport.right)
        return FileCardReply(ChipObject.encoded([0x7C], objects))
    }

    private func newSession(_ secret: [UInt8], _ cipher: UInt8) -> PassportSession {
        PassportSession(
            number: cipher, encryption: ChipPACE.key(secret, 1, cipher), codes: ChipPACE.key(secret, 2, cipher),
            counter: [UInt8](repeating: 0, count: cipher == 1 ? 8 : 16))
    }

    /// The mapping's key divided by the static one.
    private func proof(_ key: [UInt8], _ group: ChipGroup) throws -> [UInt8]? {
        guard case .curve(let curve) = group else { return nil }
        for candidate in agreementKeys {
            guard case .curve(let own)? = ChipGroup(candidate.parameters), own == curve else { continue }
            return try Modular.product(key, Modular.inverse(candidate.key, curve.order), curve.order)
        }
        return nil
    }

    // MARK: Chip authentication

    /// MSE:Set AT, and MSE:Set KAT with the other side's key.
    mutating func chooseProtocol(
        _ command: CommandAPDU, _ next: inout PassportSession?, on card: FileCardState
    ) -> FileCardReply {
        guard let objects = ChipObject.all(command.data), let first = objects.first,
            objects.dropFirst().allSatisfy({ $0.tag == 0x84 })
        else { return FileCardReply(0x6A80) }
        let number = objects.dropFirst().first?.value
        switch (command.parameters, first.tag) {
        case (0x41A4, 0x80):
            let listed = card.tree.applications.flatMap(\.files).first { $0.id.rawValue == 0x010E }
            guard case .bytes(let bytes)? = listed?.content, let cipher = first.value.last, (1...4).contains(cipher),
                bytes.indices.contains(where: { bytes[$0...].starts(with: first.whole.dropFirst(2)) })
            else { return FileCardReply(0x6A80) }
            chosenProtocol = (cipher, number)
            return FileCardReply(StatusWord.success)
        case (0x41A6, 0x91):
            guard let found = renewed(first.value, 1, number) else { return FileCardReply(0x6A80) }
            next = found
            return FileCardReply(StatusWord.success)
        default: return FileCardReply(0x6A80)
        }
    }

    /// GENERAL AUTHENTICATE with the other side's key.
    mutating func agree(_ command: CommandAPDU, _ next: inout PassportSession?) -> FileCardReply {
        guard let chosen = chosenProtocol, let outer = ChipObject.all(command.data), outer.count == 1,
            outer[0].tag == 0x7C, let objects = ChipObject.all(outer[0].value), objects.count == 1,
            objects[0].tag == 0x80, let found = renewed(objects[0].value, chosen.cipher, chosen.key)
        else { return FileCardReply(0x6A80) }
        chosenProtocol = nil
        next = found
        return FileCardReply([0x7C, 0x00])
    }

    private func renewed(_ theirs: [UInt8], _ cipher: UInt8, _ number: [UInt8]?) -> PassportSession? {
        guard let key = agreementKeys.first(where: { number == nil || $0.id == number }),
            let group = ChipGroup(key.parameters), let common = try? group.times(theirs, key.key)
        else { return nil }
        return newSession(group.secret(common), cipher)
    }

    // MARK: Active authentication

    /// INTERNAL AUTHENTICATE: the signature of eight bytes.
    func sign(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply {
        guard let signer else { return FileCardReply(StatusWord.unknownInstruction) }
        guard command.data.count == 8, let expected = command.expected, command.parameters == 0 else {
            return FileCardReply(StatusWord.wrongLength)
        }
        guard let signature = try? signature(command.data, signer, on: &card) else { return FileCardReply(0x6A80) }
        // What the protection adds has to fit, too.
        return signature.count + 40 > expected ? FileCardReply(StatusWord.wrongLength) : FileCardReply(signature)
    }

    private func signature(
        _ challenge: [UInt8], _ signer: Signer, on card: inout FileCardState
    ) throws -> [UInt8] {
        switch signer {
        case .rsa(let modulus, let exponent, let digest):
            let trailers: [Digest: UInt8] = [.sha224: 0x38, .sha256: 0x34, .sha384: 0x36, .sha512: 0x35]
            let trailer: [UInt8] = trailers[digest].map { [$0, 0xCC] } ?? [0xBC]
            let own = card.randomBytes(max(0, modulus.count - 1 - digest.length - trailer.count))
            let message = [0x6A] + own + (try digest.hash(own + challenge)) + trailer
            return try Modular.power(message, exponent, modulus)
        case .curve(let number, let key, let digest):
            guard case .curve(let curve)? = ChipGroup(number) else { return [] }
            let once = try privateKey(.curve(curve), on: &card)
            let point = try curve.sum(point: curve.generator, times: once)
            let r = try Modular.sum(Array(point[1...curve.width]), [0], curve.order)
            let hash = Array(try digest.hash(challenge).prefix(curve.order.count))
            let sum = try Modular.sum(hash, Modular.product(r, key, curve.order), curve.order)
            return r + (try Modular.product(Modular.inverse(once, curve.order), sum, curve.order))
        }
    }
}
