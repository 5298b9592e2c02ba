// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
internal import CardModel

/// SDM: what a read without a key shows in place of the bytes in the file. Written by hand from NXP AN12196.
extension VirtualNTAG424 {
    /// The SDM part of a file's settings.
    struct Mirrors {
        let options: UInt8
        /// The keys for PICC data, for MAC and file data, and for reading the counter; E everybody, F nobody.
        let meta, file, counter: UInt8
        let isLRP: Bool
        var uidAt, counterAt, piccAt, inputAt, dataAt, dataLength, macAt, limit: Int?

        /// The places in the file that are overwritten, as offset and length.
        var places: [(Int, Int)] {
            [(uidAt, 14), (counterAt, 6), (piccAt, isLRP ? 48 : 32), (dataAt, dataLength ?? 0), (macAt, 16)].compactMap
            {
                place, length in place.map { ($0, length) }
            }
        }

        /// Parses the settings from FileOption on; `nil` if a tag refuses them.
        init?(_ bytes: [UInt8], size: Int, isLRP: Bool) {
            guard bytes.count >= 6, bytes[0] & 0x40 != 0 else { return nil }
            (options, self.isLRP) = (bytes[3], isLRP)
            (meta, file, counter) = (bytes[5] >> 4, bytes[5] & 0x0F, bytes[4] & 0x0F)
            guard options & 0x0E == 0, options & 0x01 != 0, bytes[4] >> 4 == 0x0F else { return nil }
            let knownKeys: Set<UInt8> = [0, 1, 2, 3, 4, 0x0F]
            guard knownKeys.contains(file), knownKeys.union([0x0E]).isSuperset(of: [meta, counter]) else { return nil }
            var rest = bytes[6...]
            var isShort = false
            func next() -> Int {
                guard rest.count >= 3 else {
                    isShort = true
                    return 0
                }
                defer { rest = rest.dropFirst(3) }
                return VirtualNTAG424.number(rest.prefix(3))
            }
            let (showsUID, showsCounter) = (options & 0x80 != 0, options & 0x40 != 0)
            if meta == 0x0E, showsUID { uidAt = next() }
            if meta == 0x0E, showsCounter { counterAt = next() }
            if meta <= 4 { piccAt = next() }
            if file != 0x0F { inputAt = next() }
            if options & 0x10 != 0 {
                dataAt = next()
                dataLength = next()
            }
            if file != 0x0F { macAt = next() }
            if options & 0x20 != 0 { limit = next() }
            guard !isShort, rest.isEmpty, fits(size: size) else { return nil }
        }

        private func fits(size: Int) -> Bool {
            guard places.allSatisfy({ $0 + $1 <= size }) else { return false }
            for (place, one) in places.enumerated() {
                for other in places.dropFirst(place + 1) where one.0 < other.0 + other.1 && other.0 < one.0 + one.1 {
                    return false
                }
            }
            if meta <= 4, options & 0xC0 == 0 { return false }
            if let inputAt, let macAt, inputAt > macAt { return false }
            guard options & 0x10 != 0 else { return true }
            guard let inputAt, let dataAt, let dataLength, let macAt else { return false }
            return options & 0xC0 == 0xC0 && dataLength > 0 && dataLength % 32 == 0 && inputAt <= dataAt
                && dataAt + dataLength <= macAt
        }
    }

    /// The bytes that a read without a key shows of a file with SDM, or the status that refuses it; `nil` if the file has none.
    ///
    /// - Parameters:
    ///   - read: the command and the file.
    ///   - before: the same of the command before; equal ones count once.
    mutating func mirrored(
        _ number: UInt8, _ read: [UInt8], _ before: [UInt8], on card: FileCardState
    ) -> (bytes: [UInt8]?, status: UInt16)? {
        guard let file = file(number, on: card),
            let mirrors = Mirrors(options(of: number), size: file.bytes.count, isLRP: isLRP)
        else { return nil }
        let isFree = options(of: number)[2] >> 4 == 0x0E || options(of: number)[1] >> 4 == 0x0E
        guard isFree else { return (nil, 0x919D) }
        if read != before {
            guard readings < mirrors.limit ?? 0xFF_FFFF else { return (nil, 0x919D) }
            readings += 1
        }
        series = read
        return (shown(file.bytes, mirrors), 0x9100)
    }

    /// Writes bytes as digits.
    private static func put(_ data: [UInt8], at place: Int?, _ shown: inout [UInt8]) {
        guard let place else { return }
        let digits = Array("0123456789ABCDEF".utf8)
        for (index, byte) in data.enumerated() {
            shown[place + 2 * index] = digits[Int(byte >> 4)]
            shown[place + 2 * index + 1] = digits[Int(byte & 0x0F)]
        }
    }

    /// PICC data: in LRP mode, eight random bytes and then what is enciphered with them as its counter.
    private func enciphered(_ plain: [UInt8], _ mirrors: Mirrors) -> [UInt8]? {
        let key = keys[Int(mirrors.meta)]
        guard isLRP else { return Self.aes(key, plain) }
        // Random in a real tag.
        let start = (0..<8).map { UInt8(truncatingIfNeeded: 0xC3 &+ $0 &* (readings &+ 5)) }
        guard let cipher = try? LeakageResilientCipher(SecretBytes(key)).encrypt(plain, counter: start, key: 0) else {
            return nil
        }
        return start + cipher
    }

    /// File data and MAC in LRP mode.
    private func proveLRP(
        _ shown: inout [UInt8], _ bytes: [UInt8], _ mirrors: Mirrors, _ own: [UInt8], _ counter: [UInt8]
    ) {
        guard let macAt = mirrors.macAt, let inputAt = mirrors.inputAt,
            let master = try? LeakageResilientCipher(SecretBytes(keys[Int(mirrors.file)])),
            let secret = try? master.mac(
                [0x00, 0x01, 0x00, 0x80] + own + [UInt8](repeating: 0, count: 10 - own.count) + [0x1E, 0xE1]),
            let cipher = try? LeakageResilientCipher(SecretBytes(secret))
        else { return }
        if let place = mirrors.dataAt, let length = mirrors.dataLength {
            let data = Array(bytes[place..<place + length / 2])
            Self.put((try? cipher.encrypt(data, counter: counter + [0, 0, 0], key: 1)) ?? [], at: place, &shown)
        }
        let mac = (try? cipher.mac(Array(shown[inputAt..<macAt]))) ?? []
        Self.put(stride(from: 1, to: mac.count, by: 2).map { mac[$0] }, at: macAt, &shown)
    }

    private func shown(_ bytes: [UInt8], _ mirrors: Mirrors) -> [UInt8] {
        var shown = bytes
        func put(_ data: [UInt8], at place: Int?) { Self.put(data, at: place, &shown) }
        let counter = (0..<3).map { UInt8(truncatingIfNeeded: readings >> (8 * $0)) }
        let (showsUID, showsCounter) = (mirrors.options & 0x80 != 0, mirrors.options & 0x40 != 0)
        put(uid, at: mirrors.uidAt)
        put(counter.reversed(), at: mirrors.counterAt)
        let own = (showsUID ? uid : []) + (showsCounter ? counter : [])
        if let place = mirrors.piccAt {
            let tag: UInt8 = (showsUID ? 0x87 : 0) | (showsCounter ? 0x40 : 0)
            var plain = [tag] + own
            // Random in a real tag; nothing may depend on it.
            while plain.count < 16 { plain.append(UInt8(truncatingIfNeeded: 0x5A &+ plain.count &* (readings &+ 3))) }
            put(enciphered(plain, mirrors) ?? [], at: place)
        }
        guard mirrors.file <= 4, let macAt = mirrors.macAt, let inputAt = mirrors.inputAt else { return shown }
        if isLRP {
            proveLRP(&shown, bytes, mirrors, own, counter)
            return shown
        }
        guard let key = try? AESKey(SecretBytes(keys[Int(mirrors.file)])) else { return shown }
        func derived(_ label: [UInt8]) -> [UInt8] {
            let vector = label + [0x00, 0x01, 0x00, 0x80] + own
            return (try? key.cmac(vector + [UInt8](repeating: 0, count: 16 - vector.count))) ?? []
        }
        if let place = mirrors.dataAt, let length = mirrors.dataLength {
            let cipher = derived([0xC3, 0x3C])
            let start = Self.aes(cipher, counter + [UInt8](repeating: 0, count: 13))
            put(Self.aes(cipher, Array(bytes[place..<place + length / 2]), start: start) ?? [], at: place)
        }
        let mac = (try? AESKey(SecretBytes(derived([0x3C, 0xC3]))).cmac(shown[inputAt..<macAt])) ?? []
        put(stride(from: 1, to: mac.count, by: 2).map { mac[$0] }, at: macAt)
        return shown
    }

    /// READ BINARY and UPDATE BINARY of a file that has settings; `nil` leaves them to the card.
    mutating func file(
        _ command: CommandAPDU, _ before: [UInt8], on card: inout FileCardState
    ) -> FileCardReply? {
        guard command.classByte == 0, [0xB0, 0xD6].contains(command.instruction) else { return nil }
        let place: Int?
        if command.p1 & 0x80 != 0 {
            place = card.tree[card.directory].files.firstIndex { $0.shortID == command.p1 & 0x1F }
        } else if case .file(let index) = card.current {
            place = index
        } else {
            place = nil
        }
        guard let place else { return nil }
        let number = card.tree[card.directory].files[place].id.rawValue &- 0xE102
        guard (1...3).contains(number), let options = settings[UInt8(number)] else { return nil }
        let own = card.tree[card.directory].files[place]
        let isReading = command.instruction == 0xB0
        let right = isReading ? options[2] >> 4 : options[2] & 0x0F
        guard right == 0x0E || options[1] >> 4 == 0x0E else { return FileCardReply(StatusWord.securityNotSatisfied) }
        if isReading, let shown = mirrored(UInt8(number), [0xB0, UInt8(number)], before, on: card) {
            guard let bytes = shown.bytes else { return FileCardReply(StatusWord.securityNotSatisfied) }
            card.tree[card.directory].files[place].content = .bytes(bytes)
        }
        card.tree[card.directory].files[place].read = .always
        card.tree[card.directory].files[place].update = .always
        let reply = isReading ? card.readBinary(command) : card.updateBinary(command)
        if isReading { card.tree[card.directory].files[place].content = own.content }
        card.tree[card.directory].files[place].read = own.read
        card.tree[card.directory].files[place].update = own.update
        return card.fit(reply, to: command)
    }
}
