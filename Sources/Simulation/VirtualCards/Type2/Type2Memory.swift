// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The memory of a virtual Type 2 Tag with its locks and counters.
package struct Type2Memory: Hashable, Sendable {
    /// The tag's model.
    package let model: Type2Model
    /// All bytes, four per page, including password and keys as stored.
    package internal(set) var bytes: [UInt8]
    /// The answer to READ_SIG, 32 bytes, 48 of an Ultralight AES.
    package var signature: [UInt8]
    /// The 24-bit counters, by number.
    package var counters: [UInt32]
    /// The number of wrong passwords or keys since the last right one; counted only where the tag has a limit.
    package var wrongPasswords = 0
    /// The keys of an Ultralight AES by number, for data and for the UID, sixteen bytes each; zeros from the factory.
    package var aesKeys = [[UInt8]](repeating: [UInt8](repeating: 0, count: 16), count: 2)

    let layout: Type2Layout

    /// Creates a tag in its factory state; `nil` when the UID does not have seven bytes.
    package init?(_ model: Type2Model, uid: [UInt8]) {
        guard uid.count == 7 else { return nil }
        self.model = model
        layout = model.layout
        bytes = [UInt8](repeating: 0, count: layout.pages * 4)
        signature = [UInt8](repeating: 0, count: model == .mf0aes20 ? 48 : 32)
        counters = [0, 0, 0]
        write(0, Array(uid[0..<3]) + [0x88 ^ uid[0] ^ uid[1] ^ uid[2]])
        write(1, Array(uid[3..<7]))
        write(2, [uid[3] ^ uid[4] ^ uid[5] ^ uid[6], 0x48, 0x00, 0x00])
        write(3, layout.capability ?? [0, 0, 0, 0])
        for (place, byte) in layout.message.enumerated() { bytes[16 + place] = byte }
        if model == .ultralightC {
            write(0x2A, [0x30, 0, 0, 0])
            write(0x2B, [0, 0, 0, 0])
            write(key: Array("IEMKAERB!NACUOYF".utf8))
        }
        guard let config = layout.config else { return }
        if model == .mf0aes20 {
            write(config, [0x00, 0x00, 0x00, 0x3C])
            write(config + 1, [0x00, 0x00, 0x00, 0x00])
            return
        }
        write(config, [0x00, 0x00, 0x00, 0xFF])
        write(config + 1, [0x00, layout.counter == .three ? 0x05 : 0x00, 0x00, 0x00])
        write(config + 2, [0xFF, 0xFF, 0xFF, 0xFF])
    }

    /// The UID in pages 0 and 1.
    package var uid: [UInt8] { Array(bytes[0..<3] + bytes[4..<8]) }

    /// One page of four bytes; missing pages read as zeros.
    package subscript(page: Int) -> [UInt8] {
        layout.pages > page && page >= 0 ? Array(bytes[page * 4..<page * 4 + 4]) : [0, 0, 0, 0]
    }

    /// Stores a page regardless of locks; short data is padded with zeros, missing pages are ignored.
    package mutating func write(_ page: Int, _ data: [UInt8]) {
        guard page >= 0, page < layout.pages else { return }
        for place in 0..<4 { bytes[page * 4 + place] = data.element(at: place) ?? 0 }
    }

    /// Stores the key of an Ultralight C, sixteen bytes, K1 before K2. Pages 2C and 2D hold K1, its last byte first, 2E
    /// and 2F K2 (NXP MF0ICU2 data sheet, tables 10 and 11).
    package mutating func write(key: [UInt8]) {
        let stored = Self.swapped(key)
        for place in 0..<4 { write(0x2C + place, Array(stored.dropFirst(4 * place).prefix(4))) }
    }

    /// The key of an Ultralight C, as it was written.
    private var key: [UInt8] {
        Self.swapped((0x2C...0x2F).flatMap { self[$0] })
    }

    /// A key with the bytes of each half reversed.
    private static func swapped(_ key: [UInt8]) -> [UInt8] {
        Array(key.prefix(8).reversed()) + Array(key.dropFirst(8).reversed())
    }

    /// The protection set in the configuration pages.
    var protection: Type2Protection {
        guard let config = layout.config else {
            guard model == .ultralightC else { return Type2Protection() }
            return Type2Protection(
                firstProtected: Int(self[0x2A][0]), protectsReading: self[0x2B][0] & 0x01 == 0, key: key)
        }
        let second = self[config + 1]
        let access = second[0]
        var protection = Type2Protection(
            firstProtected: Int(self[config][3]), protectsReading: access & 0x80 != 0,
            locksConfiguration: access & 0x40 != 0, wrongPasswords: Int(access & 0x07))
        if model == .mf0aes20 {
            protection.wrongPasswords = Int(second[2]) | Int(second[3] & 0x03) << 8
            protection.wantsCodes = self[config][0] & 0x02 != 0
        }
        return protection
    }

    /// The content of a page as READ returns it: password and PACK read as zeros.
    func shown(_ page: Int) -> [UInt8] {
        guard let config = layout.config, model != .mf0aes20, page == config + 2 || page == config + 3 else {
            return self[page]
        }
        return [0, 0, 0, 0]
    }

    /// The content of a page as READ returns it, with the mirror of UID and counter in place of what is stored.
    package func read(_ page: Int) -> [UInt8] {
        var content = shown(page)
        guard let config = layout.config, let text = mirror else { return content }
        let start = Int(self[config][2]) * 4 + Int(self[config][0] >> 4 & 0x03)
        for (place, character) in text.enumerated() where (start + place) / 4 == page {
            content[(start + place) % 4] = character
        }
        return content
    }

    /// The characters that are mirrored: the UID as 14 digits, the counter as 6, an `x` between both. NTAG210 and 212
    /// mirror the UID only, Ultralight EV1 nothing.
    private var mirror: [UInt8]? {
        guard let config = layout.config, layout.counter != .three, model != .mf0aes20, self[config][2] > 3 else {
            return nil
        }
        let digits = { (bytes: [UInt8]) in Array(Hex.encode(bytes, uppercase: true).utf8) }
        let count = [16, 8, 0].map { UInt8(truncatingIfNeeded: counters[2] >> $0) }
        switch (self[config][0] >> 6, layout.counter) {
        case (1, _): return digits(uid)
        case (2, .automatic): return digits(count)
        case (3, .automatic): return digits(uid) + [0x78] + digits(count)
        default: return nil
        }
    }

    // MARK: Locks

    /// Whether lock bits forbid writing to a page.
    func isLocked(_ page: Int) -> Bool {
        let locks = Int(self[2][2]) | Int(self[2][3]) << 8
        if (3...15).contains(page) { return locks >> page & 1 != 0 }
        guard let dynamic = layout.locks, page >= 16, page != dynamic.page else { return false }
        let bits = Int(self[dynamic.page][0]) | Int(self[dynamic.page][1]) << 8
        switch dynamic {
        case .pairs(let first, let unit): return page < first && bits >> ((page - 16) / unit) & 1 != 0
        case .groupsOfFour(let first):
            if page < first {
                let group = (page - 16) / 4
                return bits >> (group < 3 ? group + 1 : group + 2) & 1 != 0
            }
            switch page {
            case 0x29...0x2B: return bits >> (8 + 4 + page - 0x29) & 1 != 0
            default: return bits >> 15 & 1 != 0
            }
        }
    }

    /// Sets lock bits: bits that are set stay set, and frozen ones do not change.
    mutating func lockStatically(_ data: [UInt8]) {
        let old = self[2]
        let freezing = old[2]
        var low = data.element(at: 2) ?? 0
        var high = data.element(at: 3) ?? 0
        if freezing & 0x01 != 0 { low &= ~0x08 }
        if freezing & 0x02 != 0 {
            low &= ~0xF0
            high &= ~0x03
        }
        if freezing & 0x04 != 0 { high &= ~0xFC }
        write(2, [old[0], old[1], old[2] | low, old[3] | high])
    }

    /// The same for the pages from 16 on.
    mutating func lockDynamically(_ locks: Type2Layout.Locks, _ data: [UInt8]) {
        let old = self[locks.page]
        var new = Int(data.element(at: 0) ?? 0) | Int(data.element(at: 1) ?? 0) << 8
        switch locks {
        case .pairs:
            for bit in 0..<8 where old[2] >> UInt8(bit) & 1 != 0 { new &= ~(0b11 << (2 * bit)) }
        case .groupsOfFour:
            if old[0] & 0x01 != 0 { new &= ~0x0E }
            if old[0] & 0x10 != 0 { new &= ~0xE0 }
            for bit in 0..<4 where old[1] >> UInt8(bit) & 1 != 0 { new &= ~(1 << (12 + bit)) }
        }
        let freezing = locks == .groupsOfFour(page: locks.page) ? 0 : data.element(at: 2) ?? 0
        write(
            locks.page,
            [
                old[0] | UInt8(truncatingIfNeeded: new), old[1] | UInt8(truncatingIfNeeded: new >> 8),
                old[2] | freezing, old[3],
            ])
    }
}
