// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel

/// What makes a virtual card an NTAG 424 DNA: its keys, and who may do what with its files E103, E104 and E105.
package struct VirtualNTAG424: VirtualApplet {
    package static let name = "ntag424"

    /// How far an authentication is.
    private enum Access: Sendable {
        case none
        /// The random number that was sent, and the number of its key; what the reader says that it can do, and the session
        /// that goes on with it, if one does.
        case begun(random: [UInt8], key: Int, reader: [UInt8], from: Session?)
        case open(Session)
        /// GetVersion was begun, and so many of its three parts were given.
        case version(parts: Int)
    }

    struct Session: Sendable {
        /// The number of the key; -1 for nobody.
        let key: Int
        let identifier: [UInt8]
        let cipherKey: [UInt8]
        let macKey: [UInt8]
        /// In LRP mode, what replaces both keys, and how many blocks it enciphered.
        var lrp: (cipher: LeakageResilientCipher, blocks: UInt32)?
        var count: UInt16 = 0

        var counter: [UInt8] { [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)] }
    }

    /// The UID that the tag tells with a key.
    package var uid: [UInt8]
    /// By number. They are test data.
    package var keys: [[UInt8]]
    /// The versions of the keys, by number; 0 if missing.
    package var versions: [UInt8] = []
    /// FileOption, access rights and SDM part of the files 1 to 3, as ChangeFileSettings sends them. Without, a file is read by
    /// everybody and written with key 0, and over ISO 7816 as its access says.
    package var settings: [UInt8: [UInt8]] = [:]
    /// How often the file with SDM was read.
    package var readings = 0
    /// The number of wrong keys in all, less ten for each right one, and in a row.
    package var failures = 0
    package var inRow = 0
    /// What Read_Sig gives, 56 bytes; zeros where there is none.
    package var signature = [UInt8](repeating: 0, count: 56)
    /// Whether the tag was switched to LRP, which is forever.
    package var isLRP = false
    /// Whether the tag shows a random UID, so that GetVersion gives zeros for it.
    package var isUIDHidden = false

    package init(uid: [UInt8], keys: [[UInt8]]) {
        (self.uid, self.keys) = (uid, keys)
    }

    /// The authentication with a key.
    private var access = Access.none
    /// The command and file of the reads that count as one.
    var series: [UInt8] = []

    package mutating func losePower() {
        access = .none
        series = []
    }

    /// Selecting an application or file ends what a key opened.
    package mutating func select() { access = .none }

    package mutating func answer(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply? {
        let before = series
        series = []
        if command.classByte == 0x90 { return reply(to: command, before, on: &card) }
        access = .none
        return file(command, before, on: &card)
    }

    func options(of file: UInt8) -> [UInt8] { settings[file] ?? [0x00, 0x00, 0xE0] }
}

/// Everything here is written by hand from NXP's examples (AN12196), so that a mistake of the reading side shows.
extension VirtualNTAG424 {
    /// A command of class 90.
    private mutating func reply(
        to command: CommandAPDU, _ before: [UInt8], on card: inout FileCardState
    ) -> FileCardReply {
        guard command.parameters == 0 else { return FileCardReply(0x919E) }
        switch command.instruction {
        case 0x71: return begin(command.data, from: nil, on: &card)
        case 0x77:
            guard case .open(let session) = access else {
                access = .none
                return FileCardReply(0x91AE)
            }
            return begin(command.data, from: session, on: &card)
        case 0xAF:
            guard case .version(let parts) = access else { return finish(command.data, on: &card) }
            return version(parts)
        default: break
        }
        guard case .open(var session) = access else {
            access = .none
            return plain(command, before, on: &card)
        }
        access = .none
        let reply: FileCardReply
        switch command.instruction {
        case 0x51: reply = giveUID(command.data, &session)
        case 0xF5: reply = giveSettings(command.data, &session, on: &card)
        case 0x64: reply = giveVersion(command.data, &session)
        case 0xAD: reply = read(command.data, &session, on: &card)
        case 0x8D: reply = write(command.data, &session, on: &card)
        case 0x5F: reply = changeSettings(command.data, &session, on: card)
        case 0x5C:
            let mode = isLRP
            reply = configure(command.data, &session)
            // So it is after the switch to LRP.
            if isLRP != mode { return reply }
        case 0xC4:
            reply = changeKey(command.data, &session)
            // The key of the session is gone, and the session with it.
            if command.data.first == 0 { return reply }
        default: return FileCardReply(0x911C)
        }
        if reply.status == 0x9100 { access = .open(session) }
        return reply
    }

    private mutating func begin(
        _ data: [UInt8], from session: Session?, on card: inout FileCardState
    ) -> FileCardReply {
        access = .none
        guard data.count >= (session == nil ? 2 : 1) else { return FileCardReply(0x917E) }
        guard card.tree[card.directory].files.contains(where: { $0.id.rawValue == 0xE104 }) else {
            return FileCardReply(0x919D)
        }
        let reader = data.count > 2 ? Array(data[2...]) : []
        // A tag in LRP mode begins with a reader that asks for it, and with no other.
        if isLRP, session == nil, (reader.first ?? 0) & 0x02 == 0 { return FileCardReply(0x919D) }
        guard failures < 1000 else { return FileCardReply(0x919D) }
        guard inRow < 50 else { return FileCardReply(0x91AD) }
        let number = Int(data[0])
        guard keys.indices.contains(number) else { return FileCardReply(0x9140) }
        let bytes = card.randomBytes(16)
        access = .begun(random: bytes, key: number, reader: reader, from: session)
        if isLRP { return FileCardReply([0x01] + bytes, 0x91AF) }
        return FileCardReply(Self.aes(keys[number], bytes) ?? [], 0x91AF)
    }

    private mutating func finish(_ data: [UInt8], on card: inout FileCardState) -> FileCardReply {
        guard case .begun(let own, let number, let capabilities, let before) = access else {
            return FileCardReply(0x91CA)
        }
        access = .none
        guard data.count == 32 else { return FileCardReply(0x917E) }
        let six = Array((capabilities + [UInt8](repeating: 0, count: 6)).prefix(6))
        let identifier = before?.identifier ?? card.randomBytes(4)
        let opened =
            isLRP
            ? openLRP(data, own, number, identifier, six, before) : openAES(data, own, number, identifier, six, before)
        guard let opened else {
            failures += 1
            inRow += 1
            return FileCardReply(0x91AE)
        }
        inRow = 0
        failures = max(0, failures - 10)
        access = .open(opened.session)
        return FileCardReply(opened.answer, 0x9100)
    }

    /// What both modes derive their keys from.
    private static func vector(_ reader: [UInt8], _ own: [UInt8]) -> [UInt8] {
        var vector: [UInt8] = [0x00, 0x01, 0x00, 0x80, reader[0], reader[1]]
        for place in 0..<6 { vector.append(reader[2 + place] ^ own[place]) }
        return vector + own[6...] + reader[8...]
    }

    private func openAES(
        _ data: [UInt8], _ own: [UInt8], _ number: Int, _ identifier: [UInt8], _ six: [UInt8], _ before: Session?
    ) -> (session: Session, answer: [UInt8])? {
        let key = keys[number]
        guard let plain = try? AESKey(SecretBytes(key)).decrypt(data), plain[16...].elementsEqual(own[1...] + own[..<1])
        else { return nil }
        let reader = Array(plain[..<16])
        let vector = Self.vector(reader, own)
        let turned = Array(reader[1...]) + [reader[0]]
        let content = before == nil ? identifier + turned + [UInt8](repeating: 0, count: 6) + six : turned
        guard let master = try? AESKey(SecretBytes(key)), let cipher = try? master.cmac([0xA5, 0x5A] + vector),
            let mac = try? master.cmac([0x5A, 0xA5] + vector), let answer = Self.aes(key, content)
        else { return nil }
        return (
            Session(key: number, identifier: identifier, cipherKey: cipher, macKey: mac, count: before?.count ?? 0),
            answer
        )
    }

    /// The random numbers travel in plain text; codes over both prove the key (AN12321).
    private func openLRP(
        _ data: [UInt8], _ own: [UInt8], _ number: Int, _ identifier: [UInt8], _ six: [UInt8], _ before: Session?
    ) -> (session: Session, answer: [UInt8])? {
        let reader = Array(data[..<16])
        guard let master = try? LeakageResilientCipher(SecretBytes(keys[number])),
            let secret = try? master.mac(Self.vector(reader, own) + [0x96, 0x69]),
            let cipher = try? LeakageResilientCipher(SecretBytes(secret)),
            let expected = try? cipher.mac(reader + own), expected == Array(data[16...])
        else { return nil }
        var session = Session(
            key: number, identifier: identifier, cipherKey: [], macKey: [], lrp: (cipher, 0),
            count: before?.count ?? 0)
        var content: [UInt8] = []
        if before == nil {
            guard
                let bytes = try? cipher.encrypt(
                    identifier + [0x02, 0, 0, 0, 0, 0] + six, counter: [0, 0, 0, 0], key: 1)
            else { return nil }
            content = bytes
            session.lrp?.blocks = 1
        }
        guard let proof = try? cipher.mac(own + reader + content) else { return nil }
        return (session, content + proof)
    }

    // MARK: Without a key

    /// What the tag answers to anybody.
    private mutating func plain(
        _ command: CommandAPDU, _ before: [UInt8], on card: inout FileCardState
    ) -> FileCardReply {
        let data = command.data
        // No key, so that only what is free for everybody is allowed.
        var nobody = Session(key: -1, identifier: [], cipherKey: [], macKey: [])
        switch command.instruction {
        case 0x60: return data.isEmpty ? version(0) : FileCardReply(0x917E)
        case 0xF5:
            guard data.count == 1 else { return FileCardReply(0x917E) }
            guard let settings = fileSettings(data[0], on: card) else { return FileCardReply(0x91F0) }
            return FileCardReply(settings, 0x9100)
        case 0x64:
            guard data.count == 1 else { return FileCardReply(0x917E) }
            guard keys.indices.contains(Int(data[0])) else { return FileCardReply(0x9140) }
            return FileCardReply([version(of: data[0])], 0x9100)
        case 0x3C:
            guard data.count == 1 else { return FileCardReply(0x917E) }
            return data == [0x00] ? FileCardReply(signature, 0x9190) : FileCardReply(0x919E)
        case 0xAD:
            guard let number = data.first, let shown = mirrored(number, [0xAD, number], before, on: card) else {
                return read(data, &nobody, on: &card)
            }
            guard let bytes = shown.bytes else { return FileCardReply(shown.status) }
            return read(data, &nobody, on: &card, showing: bytes)
        case 0x8D: return write(data, &nobody, on: &card)
        case 0x51: return FileCardReply(0x91AE)
        default: return FileCardReply(0x911C)
        }
    }

    /// A part of GetVersion, as a real tag gives it: hardware, software, then UID, batch, week and year.
    private mutating func version(_ parts: Int) -> FileCardReply {
        access = parts < 2 ? .version(parts: parts + 1) : .none
        switch parts {
        case 0: return FileCardReply([0x04, 0x04, 0x08, 0x30, 0x00, 0x11, 0x05], 0x91AF)
        case 1: return FileCardReply([0x04, 0x04, 0x02, 0x01, 0x02, 0x11, 0x05], 0x91AF)
        default:
            let uid = isUIDHidden ? [UInt8](repeating: 0, count: 7) : uid
            return FileCardReply(uid + [0xCF, 0x5D, 0x90, 0x45, 0x10, 0x46, 0x21], 0x9100)
        }
    }

    /// Type, option, rights and size of a file.
    private func fileSettings(_ number: UInt8, on card: FileCardState) -> [UInt8]? {
        guard let bytes = file(number, on: card)?.bytes else { return nil }
        let options = options(of: number)
        let size = [UInt8(truncatingIfNeeded: bytes.count), UInt8(truncatingIfNeeded: bytes.count >> 8), 0]
        return [0x00] + options.prefix(3) + size + options.dropFirst(3)
    }

    package func version(of key: UInt8) -> UInt8 { Int(key) < versions.count ? versions[Int(key)] : 0 }

    // MARK: Commands

    private func giveVersion(_ data: [UInt8], _ session: inout Session) -> FileCardReply {
        guard Self.opened(0x64, data, header: 1, mode: 1, &session) != nil else { return FileCardReply(0x911E) }
        guard keys.indices.contains(Int(data[0])) else { return FileCardReply(0x9140) }
        return Self.closed([version(of: data[0])], mode: 1, &session)
    }

    private func giveUID(_ data: [UInt8], _ session: inout Session) -> FileCardReply {
        guard Self.opened(0x51, data, header: 0, mode: 3, &session) != nil else { return FileCardReply(0x911E) }
        return Self.closed(uid, mode: 3, &session)
    }

    private func giveSettings(
        _ data: [UInt8], _ session: inout Session, on card: inout FileCardState
    ) -> FileCardReply {
        guard Self.opened(0xF5, data, header: 1, mode: 1, &session) != nil else { return FileCardReply(0x911E) }
        guard let number = data.first, let settings = fileSettings(number, on: card) else {
            return FileCardReply(0x91F0)
        }
        return Self.closed(settings, mode: 1, &session)
    }

    private func read(
        _ data: [UInt8], _ session: inout Session, on card: inout FileCardState, showing shown: [UInt8]? = nil
    ) -> FileCardReply {
        guard data.count >= 7 else { return FileCardReply(0x917E) }
        let options = self.options(of: data[0])
        guard let mode = Self.mode(options, [options[2] >> 4, options[1] >> 4], session.key) else {
            return FileCardReply(0x919D)
        }
        guard Self.opened(0xAD, data, header: 7, mode: mode == 0 ? 0 : 1, &session) != nil else {
            return FileCardReply(0x911E)
        }
        guard let bytes = shown ?? file(data[0], on: card)?.bytes else { return FileCardReply(0x91F0) }
        let offset = Self.number(data[1...3])
        let count = Self.number(data[4...6])
        guard offset + count <= bytes.count else { return FileCardReply(0x91BE) }
        let end = count == 0 ? bytes.count : offset + count
        guard offset <= end else { return FileCardReply(0x91BE) }
        return Self.closed(Array(bytes[offset..<end]), mode: mode, &session)
    }

    private func write(
        _ data: [UInt8], _ session: inout Session, on card: inout FileCardState
    ) -> FileCardReply {
        guard data.count >= 7 else { return FileCardReply(0x917E) }
        let options = self.options(of: data[0])
        guard let mode = Self.mode(options, [options[2] & 0x0F, options[1] >> 4], session.key) else {
            return FileCardReply(0x919D)
        }
        guard let content = Self.opened(0x8D, data, header: 7, mode: mode, &session) else {
            return FileCardReply(0x911E)
        }
        guard let file = file(data[0], on: card) else { return FileCardReply(0x91F0) }
        let (offset, count) = (Self.number(data[1...3]), Self.number(data[4...6]))
        guard content.count == count else { return FileCardReply(0x917E) }
        guard offset + count <= file.bytes.count else { return FileCardReply(0x91BE) }
        var bytes = file.bytes
        bytes.replaceSubrange(offset..<offset + count, with: content)
        card.tree[card.directory].files[file.index].content = .bytes(bytes)
        return Self.closed([], mode: mode == 0 ? 0 : 1, &session)
    }

    /// The file of a number: E103, E104 or E105 of the current application.
    func file(_ number: UInt8, on card: FileCardState) -> (index: Int, bytes: [UInt8])? {
        let id = 0xE102 + UInt16(number)
        guard (1...3).contains(number),
            let index = card.tree[card.directory].files.firstIndex(where: { $0.id.rawValue == id }),
            case .bytes(let bytes) = card.tree[card.directory].files[index].content
        else { return nil }
        return (index, bytes)
    }

    // MARK: Codes and ciphers

    /// The mode of a command for the owner of a key, 0, 1 or 3; `nil` if it has none of these rights.
    package static func mode(_ options: [UInt8], _ rights: [UInt8], _ key: Int) -> UInt8? {
        if rights.contains(where: { Int($0) == key }) { return options[0] & 0x03 == 2 ? 0 : options[0] & 0x03 }
        return rights.contains(0x0E) ? 0 : nil
    }

    package static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    static func aes(_ key: [UInt8], _ data: [UInt8], start: [UInt8]? = nil) -> [UInt8]? {
        try? AESKey(SecretBytes(key)).encrypt(data, after: start)
    }

    static func code(_ message: [UInt8], _ session: Session) -> [UInt8]? {
        let made =
            session.lrp.map { try? $0.cipher.mac(message) } ?? (try? AESKey(SecretBytes(session.macKey)).cmac(message))
        guard let mac = made else { return nil }
        return [1, 3, 5, 7, 9, 11, 13, 15].map { mac[$0] }
    }

    /// Where a chain of ciphers begins.
    private static func start(_ label: [UInt8], _ session: Session) -> [UInt8]? {
        aes(session.cipherKey, label + session.identifier + session.counter + [UInt8](repeating: 0, count: 8))
    }

    private static func deciphered(_ data: [UInt8], _ session: inout Session) -> [UInt8]? {
        guard let lrp = session.lrp else {
            guard let first = start([0xA5, 0x5A], session) else { return nil }
            return try? AESKey(SecretBytes(session.cipherKey)).decrypt(data, after: first)
        }
        session.lrp?.blocks &+= UInt32(data.count / 16)
        return try? lrp.cipher.decrypt(data, counter: number(lrp.blocks), key: 1)
    }

    private static func enciphered(_ data: [UInt8], _ session: inout Session) -> [UInt8]? {
        guard let lrp = session.lrp else {
            guard let first = start([0x5A, 0xA5], session) else { return nil }
            return aes(session.cipherKey, data, start: first)
        }
        session.lrp?.blocks &+= UInt32(data.count / 16)
        return try? lrp.cipher.encrypt(data, counter: number(lrp.blocks), key: 1)
    }

    private static func number(_ blocks: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: blocks >> $0) }
    }

    /// The data of a command behind its header; `nil` if its code is wrong.
    static func opened(
        _ code: UInt8, _ field: [UInt8], header: Int, mode: UInt8, _ session: inout Session
    ) -> [UInt8]? {
        guard mode != 0 else { return Array(field.dropFirst(header)) }
        let body = Array(field.dropLast(8))
        guard field.count >= header + 8,
            self.code([code] + session.counter + session.identifier + body, session) == Array(field.suffix(8))
        else { return nil }
        let data = Array(body.dropFirst(header))
        guard mode == 3, !data.isEmpty else { return data }
        guard let plain = deciphered(data, &session),
            let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == 0x80
        else { return nil }
        return Array(plain[..<end])
    }

    static func closed(
        _ data: [UInt8], mode: UInt8, _ session: inout Session
    ) -> FileCardReply {
        session.count &+= 1
        var body = data
        if mode == 3 {
            body.append(0x80)
            while body.count % 16 != 0 { body.append(0) }
            guard let cipher = enciphered(body, &session) else { return FileCardReply(0x91EE) }
            body = cipher
        }
        guard mode != 0 else { return FileCardReply(body, 0x9100) }
        guard let code = code([0x00] + session.counter + session.identifier + body, session) else {
            return FileCardReply(0x91EE)
        }
        return FileCardReply(body + code, 0x9100)
    }
}

extension VirtualNTAG424 {
    /// The members that change without a write.
    package static let counters: Set<String> = ["readings", "failures"]

    /// The members of a card file that differ since a card was read from it.
    func members(since before: VirtualNTAG424) -> [(name: String, value: JSONValue)] {
        var members: [(name: String, value: JSONValue)] = []
        if keys != before.keys { members.append(("keys", .array(keys.map { .string(Hex.encode($0)) }))) }
        if versions != before.versions { members.append(("versions", .array(versions.map { .int(Int($0)) }))) }
        if settings != before.settings {
            let list = settings.sorted { $0.key < $1.key }.map { ("\($0.key)", JSONValue.string(Hex.encode($0.value))) }
            members.append(("settings", .object(JSONObject(list))))
        }
        if readings != before.readings { members.append(("readings", .int(readings))) }
        if isLRP != before.isLRP { members.append(("lrp", .bool(isLRP))) }
        if failures != before.failures { members.append(("failures", .int(failures))) }
        return members
    }

    package init(json: JSONCursor, of card: JSONCursor) throws(DocumentError) {
        try json.allowOnly([
            "uid", "keys", "versions", "settings", "lrp", "readings", "failures", "signature", "comment",
        ])
        let keys = try json.required("keys")
        let list = try keys.list { key throws(DocumentError) in try key.bytes(count: 16) }
        guard (1...5).contains(list.count) else { throw keys.malformed(.bytes, "16") }
        self.init(uid: try json.required("uid").bytes(count: 7), keys: list)
        isLRP = try json.optional("lrp")?.bool() ?? false
        for (name, value) in try json.optional("settings")?.members() ?? [] {
            guard let number = UInt8(name), (1...3).contains(number) else {
                throw value.malformed(.oneOfNames, "1", "2", "3")
            }
            let text = try value.text()
            let bytes = try value.bytes(count: max(3, text.utf8.count / 2))
            guard areValid(bytes, size: 256) else { throw value.malformed(.bytes, "3") }
            settings[number] = bytes
        }
        if let versions = try json.optional("versions") {
            self.versions = try versions.list { version throws(DocumentError) in
                UInt8(try version.integer(in: 0...255))
            }
        }
        if let readings = try json.optional("readings") { self.readings = try readings.integer(in: 0...0xFF_FFFF) }
        if let failures = try json.optional("failures") {
            self.failures = try failures.integer(in: 0...1000)
            inRow = self.failures
        }
        isUIDHidden = try card.optional("typeA")?.optional("uid")?.value == .string("random")
        if let signature = try json.optional("signature") { self.signature = try signature.bytes(count: 56) }
    }
}
