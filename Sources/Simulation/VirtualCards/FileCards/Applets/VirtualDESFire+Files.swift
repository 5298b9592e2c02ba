// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The files of a virtual DESFire: who may do what with them, and transactions, which take effect whole or not at all.
extension VirtualDESFire {
    /// The mode in which a session's key, or everybody, has one of these rights; `nil` for nobody.
    package func mode(of file: File, _ rights: [UInt8]) -> UInt8? {
        if case .open(let session) = access, rights.contains(UInt8(truncatingIfNeeded: session.key)) {
            return file.mode == 2 ? 0 : file.mode
        }
        return rights.contains(0x0E) ? 0 : nil
    }

    /// The status for somebody without a right: a key may have it, or nobody.
    private var refusal: UInt16 { if case .open = access { 0x919D } else { 0x91AE } }

    // MARK: Reading

    package mutating func read(_ code: UInt8, _ data: [UInt8]) -> FileCardReply {
        guard selected != nil else { return FileCardReply(0x919D) }
        guard let number = data.first, let file = current.files[number] else { return FileCardReply(0x91F0) }
        let (read, write, both) = (file.rights[1] >> 4, file.rights[1] & 0x0F, file.rights[0] >> 4)
        guard let mode = mode(of: file, code == 0x6C ? [read, write, both] : [read, both]) else {
            return FileCardReply(refusal)
        }
        let header = code == 0x6C ? 1 : 7
        var session: DESFireChipSession?
        if case .open(var open) = access {
            let sent: UInt8 = open.kind == .ev2 && mode != 0 ? 1 : 0
            guard open.open(code, data, header: header, mode: sent, count: 0) != nil else {
                return FileCardReply(0x911E)
            }
            session = open
        }
        let expected = header + (session?.kind == .ev2 && mode != 0 ? 8 : 0)
        guard data.count == expected else { return FileCardReply(0x917E) }
        guard let content = content(code, file, data) else { return FileCardReply(0x91BE) }
        guard var session else { return give(content, whole: code == 0xAD || code == 0xAB) }
        let closed = session.close(content, mode: mode)
        access = .open(session)
        return give(closed, whole: code == 0xAD || code == 0xAB)
    }

    /// What a command reads; `nil` outside of the file, or of a file of another kind.
    private func content(_ code: UInt8, _ file: File, _ data: [UInt8]) -> [UInt8]? {
        if code == 0x6C { return file.kind == .value ? Self.field(Int(file.value), 4) : nil }
        let (offset, count) = (Self.number(data[1..<4]), Self.number(data[4..<7]))
        if code == 0xBD || code == 0xAD {
            guard file.kind == .standard || file.kind == .backup, offset <= file.bytes.count else { return nil }
            let end = count == 0 ? file.bytes.count : offset + count
            return end <= file.bytes.count ? Array(file.bytes[offset..<end]) : nil
        }
        guard file.kind == .linear || file.kind == .cyclic, !file.records.isEmpty, offset < file.records.count else {
            return nil
        }
        let end = file.records.count - offset
        let first = count == 0 ? 0 : end - count
        return first >= 0 ? file.records[first..<end].flatMap { $0 } : nil
    }

    // MARK: Writing

    package mutating func write(_ code: UInt8, _ data: [UInt8]) -> FileCardReply {
        guard selected != nil else { return FileCardReply(0x919D) }
        guard let number = data.first, var file = pending[number] ?? current.files[number] else {
            return FileCardReply(0x91F0)
        }
        let (read, write, both) = (file.rights[1] >> 4, file.rights[1] & 0x0F, file.rights[0] >> 4)
        let rights =
            switch code {
            case 0x0C: [both]
            case 0xDC: [read, write, both]
            default: [write, both]
            }
        guard let mode = mode(of: file, rights) else { return FileCardReply(refusal) }
        let isValue = code == 0x0C || code == 0xDC
        let header = isValue ? 1 : 7
        guard data.count >= header else { return FileCardReply(0x917E) }
        let count = isValue ? 4 : Self.number(data[4..<7])
        let content: [UInt8]?
        if case .open(var session) = access {
            content = session.open(code, data, header: header, mode: mode, count: count)
            access = .open(session)
        } else {
            content = Array(data[header...])
        }
        guard let content else {
            pending = [:]
            return FileCardReply(0x911E)
        }
        guard content.count == count else { return FileCardReply(0x917E) }
        let status = isValue ? file.change(by: content, code == 0x0C) : file.write(code, data, content)
        guard status == 0x9100 else { return FileCardReply(status) }
        if file.kind == .standard { current.files[number] = file } else { pending[number] = file }
        guard case .open(var session) = access else { return FileCardReply(0x9100) }
        let closed = session.close([], mode: session.kind == .ev2 && mode != 0 ? 1 : 0)
        access = .open(session)
        return FileCardReply(closed, 0x9100)
    }

    // MARK: Authentication

    mutating func begin(_ code: UInt8, _ data: [UInt8], on card: inout FileCardState) -> FileCardReply {
        // NonFirst goes on with identifier and counter of a session of EV2.
        if code == 0x77 {
            guard case .open(let open) = access, open.kind == .ev2 else { return FileCardReply(0x919D) }
            earlier = open
        } else {
            earlier = nil
        }
        access = .none
        pending = [:]
        guard data.count >= 1, code == 0x71 || data.count == 1 else { return FileCardReply(0x917E) }
        if code != 0x0A, generation == .d40 { return FileCardReply(0x911C) }
        if code == 0x71 || code == 0x77, !generation.isNew { return FileCardReply(0x911C) }
        let number = Int(data[0])
        guard number < current.keys.count else { return FileCardReply(0x9140) }
        let key = current.keys[number]
        let kinds: [DESFireChipKey.Kind] =
            switch code {
            case 0x0A: [.des]
            case 0x1A: [.des, .three]
            default: [.aes]
            }
        guard kinds.contains(key.kind) else { return FileCardReply(0x91AE) }
        let random = random(key.kind == .des ? 8 : 16, &card)
        guard let challenge = key.encrypt(random, after: [UInt8](repeating: 0, count: key.block)) else {
            return FileCardReply(0x91EE)
        }
        access = .begun(code: code, random: random, key: number, challenge: challenge)
        return FileCardReply(challenge, 0x91AF)
    }

    private mutating func random(_ count: Int, _ card: inout FileCardState) -> [UInt8] {
        randoms.isEmpty ? card.randomBytes(count) : randoms.removeFirst()
    }

    package mutating func finish(_ data: [UInt8], on card: inout FileCardState) -> FileCardReply {
        guard case .begun(let code, let own, let number, let challenge) = access else { return FileCardReply(0x91CA) }
        access = .none
        let key = current.keys[number]
        guard data.count == 2 * own.count else { return FileCardReply(0x917E) }
        let zeros = [UInt8](repeating: 0, count: key.block)
        var plain: [UInt8] = []
        if code == 0x0A {
            // The card only encrypts.
            for (place, last) in [(0, zeros), (8, Array(data[..<8]))] {
                guard let block = key.encrypt(Array(data[place..<place + 8]), after: zeros) else { break }
                for index in 0..<8 { plain.append(block[index] ^ last[index]) }
            }
        } else {
            let start = code == 0x71 || code == 0x77 ? zeros : Array(challenge.suffix(key.block))
            plain = key.decrypt(data, after: start) ?? []
        }
        guard plain.count == data.count, Array(plain[own.count...]) == Array(own[1...]) + [own[0]] else {
            failures[current.id + [UInt8(truncatingIfNeeded: number)], default: 0] += 1
            return FileCardReply(0x91AE)
        }
        let reader = Array(plain[..<own.count])
        let turned = Array(reader[1...]) + [reader[0]]
        if code == 0x71 || code == 0x77 { return openNew(key, number, reader, own, turned, &card) }
        let start = code == 0x0A ? zeros : Array(data.suffix(key.block))
        guard let answer = key.encrypt(turned, after: start) else { return FileCardReply(0x91EE) }
        let kind: DESFireChipSession.Kind = code == 0x0A ? .d40 : .ev1
        access = .open(DESFireChipSession(kind, key: number, cipherKey: Self.sessionKey(key, reader, own)))
        return FileCardReply(answer, 0x9100)
    }

    private static func sessionKey(_ key: DESFireChipKey, _ reader: [UInt8], _ own: [UInt8]) -> DESFireChipKey {
        var bytes = Array(reader[0..<4] + own[0..<4])
        switch key.kind {
        case .des: bytes += key.bytes[..<8] == key.bytes[8...] ? bytes : Array(reader[4..<8] + own[4..<8])
        case .three: bytes += reader[6..<10] + own[6..<10] + reader[12..<16] + own[12..<16]
        case .aes: bytes += reader[12..<16] + own[12..<16]
        }
        return DESFireChipKey(key.kind, bytes)
    }

    private mutating func openNew(
        _ key: DESFireChipKey, _ number: Int, _ reader: [UInt8], _ own: [UInt8], _ turned: [UInt8],
        _ card: inout FileCardState
    ) -> FileCardReply {
        var vector: [UInt8] = [0x00, 0x01, 0x00, 0x80, reader[0], reader[1]]
        for place in 0..<6 { vector.append(reader[2 + place] ^ own[place]) }
        vector += own[6...] + reader[8...]
        let zeros = [UInt8](repeating: 0, count: 16)
        let identifier = earlier?.identifier ?? random(4, &card)
        let proof = earlier == nil ? identifier + turned + [UInt8](repeating: 0, count: 12) : turned
        guard let cipher = key.cmac([0xA5, 0x5A] + vector, after: zeros),
            let mac = key.cmac([0x5A, 0xA5] + vector, after: zeros),
            let answer = key.encrypt(proof, after: zeros)
        else { return FileCardReply(0x91EE) }
        var session = DESFireChipSession(.ev2, key: number, cipherKey: DESFireChipKey(.aes, cipher))
        (session.macKey, session.identifier) = (DESFireChipKey(.aes, mac), identifier)
        session.count = earlier?.count ?? 0
        access = .open(session)
        return FileCardReply(answer, 0x9100)
    }

    // MARK: Keys

    mutating func giveUID(_ data: [UInt8]) -> FileCardReply {
        guard case .open(var session) = access else { return FileCardReply(0x91AE) }
        guard session.open(0x51, data, header: 0, mode: session.kind == .ev2 ? 1 : 0, count: 0) != nil else {
            return FileCardReply(0x911E)
        }
        let closed = session.close(uid, mode: 3)
        access = .open(session)
        return FileCardReply(closed, 0x9100)
    }

    /// ChangeKey, of the key of the session or of another one.
    mutating func changeKey(_ data: [UInt8]) -> FileCardReply {
        guard case .open(var session) = access else { return FileCardReply(0x91AE) }
        guard let first = data.first else { return FileCardReply(0x917E) }
        let number = Int(first & 0x0F)
        guard number < current.keys.count else { return FileCardReply(0x9140) }
        let changer = Int(current.settings >> 4)
        let allowed = number == 0 || changer == 0 || changer == number ? 0 : changer
        guard changer == 0x0E && number != 0 ? session.key == number : session.key == allowed else {
            return FileCardReply(0x919D)
        }
        guard number != 0 || current.settings & 0x01 != 0 else { return FileCardReply(0x919D) }
        let old = current.keys[number]
        // Only the card's own key changes its type, and says so.
        let kinds: [UInt8: DESFireChipKey.Kind] = [0x00: .des, 0x40: .three, 0x80: .aes]
        guard let kind = selected == nil ? kinds[first & 0xC0] : first & 0xC0 == 0 ? old.kind : nil,
            kind == .des || generation != .d40
        else { return FileCardReply(0x919E) }
        let isOwn = number == session.key
        let length = kind.length + (kind == .aes ? 1 : 0)
        let sum = session.kind == .d40 ? 2 : 4
        let tail = isOwn || session.kind == .ev2 ? 0 : sum
        let content = session.open(0xC4, data, header: 1, mode: 3, count: length, tail: tail)
        guard let content, content.count == length + (isOwn ? 0 : sum) else { return FileCardReply(0x911E) }
        var new = Array(content[..<kind.length])
        if !isOwn {
            for place in new.indices { new[place] ^= old.bytes[place] }
            let wanted = session.kind == .d40 ? DESFireChipSession.crc16(new) : DESFireChipSession.crc32(new)
            guard wanted == Array(content[length...]) else { return FileCardReply(0x911E) }
        }
        while current.versions.count < current.keys.count { current.versions.append(0) }
        current.versions[number] =
            kind == .aes ? content[kind.length] : new[..<8].reduce(0) { $0 << 1 | $1 & 1 }
        current.keys[number] = DESFireChipKey(kind, new)
        guard !isOwn else {
            access = .none
            return FileCardReply(0x9100)
        }
        let closed = session.close([], mode: session.kind == .ev2 ? 1 : 0)
        access = .open(session)
        return FileCardReply(closed, 0x9100)
    }
}

extension VirtualDESFire.File {
    /// Credit or debit, for the next commit.
    fileprivate mutating func change(by bytes: [UInt8], _ isCredit: Bool) -> UInt16 {
        guard kind == .value else { return 0x919D }
        let amount = VirtualDESFire.number(bytes[...])
        guard amount <= Int(Int32.max) else { return 0x919E }
        let new = Int(value) + (isCredit ? amount : -amount)
        guard new >= Int(lower), new <= Int(upper) else { return 0x91BE }
        value = Int32(new)
        return 0x9100
    }

    /// Bytes of a data file, or of the record that the next commit adds.
    fileprivate mutating func write(_ code: UInt8, _ data: [UInt8], _ content: [UInt8]) -> UInt16 {
        let offset = VirtualDESFire.number(data[1..<4])
        if code == 0x3D || code == 0x8D {
            guard kind == .standard || kind == .backup else { return 0x919D }
            guard offset + content.count <= bytes.count else { return 0x91BE }
            bytes.replaceSubrange(offset..<offset + content.count, with: content)
            return 0x9100
        }
        guard kind == .linear || kind == .cyclic else { return 0x919D }
        guard offset + content.count <= recordSize else { return 0x91BE }
        if !hasNewRecord {
            guard kind == .cyclic || records.count < maxRecords else { return 0x91BE }
            records.append([UInt8](repeating: 0, count: recordSize))
            // One of a cyclic file's records is the reserve.
            if kind == .cyclic, records.count > maxRecords - 1 { records.removeFirst() }
            hasNewRecord = true
        }
        records[records.count - 1].replaceSubrange(offset..<offset + content.count, with: content)
        return 0x9100
    }
}
