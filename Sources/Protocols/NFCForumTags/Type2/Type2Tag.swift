// SPDX-License-Identifier: Apache-2.0

package import NDEF
package import ReaderCore

/// A Type 2 Tag in the field of a reader: sends commands with bounded retries, and reselects it after each refusal.
///
/// After a NAK, such a tag is idle and ignores everything until it is selected again, so that is done immediately.
package final class Type2Tag {
    /// The tag as it was found.
    package let target: TypeATarget
    /// The pages that were read or written so far.
    package private(set) var memory = Type2Memory()
    let reader: any Reader
    private let cancellation: CancellationToken
    /// The codes of commands that the reader does not pass on, so that the tag could not be asked.
    package private(set) var notPassed: Set<UInt8> = []
    /// The key used for authentication each time the tag is selected again; `nil` for none.
    var proof: Proof?
    /// Whether an Ultralight AES wants a code with each command once it is authenticated.
    var usesMessaging = false
    /// The codes of the session; `nil` without one.
    var messaging: Type2SecureMessaging?
    /// The password that the tag accepted, sent again each time it is selected; `nil` for none.
    var password: Type2Password?
    /// The source of RndA.
    var random: () -> UInt64 = { .random(in: .min ... .max) }
    private var sector: UInt8 = 0
    private var knownVersion: [UInt8]??
    private var knownProduct: Type2Product??

    /// The longest time that one command takes: a tag answers within 20 ms.
    static let timeout: Duration = .milliseconds(100)

    package init(reader: any Reader, target: TypeATarget, cancellation: CancellationToken = CancellationToken()) {
        self.reader = reader
        self.target = target
        self.cancellation = cancellation
    }

    /// Returns whether a type A card may be a Type 2 Tag: it does not support ISO-DEP, and its SAK is 00.
    package static func mayBe(_ target: TypeATarget) -> Bool {
        !target.isISODEP && (target.sak ?? 0) == 0
    }

    // MARK: Pages

    /// Reads the four pages from this one on, sixteen bytes; the pages after the last are the first ones again.
    ///
    /// - Throws: ``TagError``; ``TagError/refused(page:nak:)`` for a page that does not exist or needs the password.
    package func read(page: UInt16) throws(TagError) -> [UInt8] {
        try select(sector: UInt8(truncatingIfNeeded: page >> 8))
        switch try ask(Type2Command.read(UInt8(truncatingIfNeeded: page)), { $0.count == 16 }) {
        case .bytes(let bytes): return bytes
        case .nak(let code): throw .refused(page: page, nak: code)
        case .silence: throw .refused(page: page, nak: nil)
        case .notPassed(let error): throw .transport(error)
        }
    }

    /// Reads pages of one sector in one command into ``memory``.
    ///
    /// - Returns: whether the tag supported the command and returned them.
    package func fastRead(_ pages: ClosedRange<UInt16>) throws(TagError) -> Bool {
        guard pages.count <= Type2Command.fastPages, pages.lowerBound >> 8 == pages.upperBound >> 8 else {
            return false
        }
        try select(sector: UInt8(truncatingIfNeeded: pages.lowerBound >> 8))
        let frame = Type2Command.fastRead(
            UInt8(truncatingIfNeeded: pages.lowerBound), UInt8(truncatingIfNeeded: pages.upperBound))
        guard case .bytes(let bytes) = try ask(frame, { $0.count == pages.count * Type2Memory.pageSize }) else {
            return false
        }
        for (place, page) in pages.enumerated() { memory[page] = Array(bytes.dropFirst(place * 4).prefix(4)) }
        return true
    }

    /// Returns one page, reading it if it is not in ``memory``.
    ///
    /// Three more pages come with it; ``memory`` keeps only those that can be trusted: READ continues with page 0 after
    /// the last page, and after the last one that can be read without password or key.
    package func page(_ number: UInt16) throws(TagError) -> [UInt8] {
        if let known = memory[number] { return known }
        let bytes = try read(page: number)
        let last = lastPage
        for place in 0..<4 {
            let page = number &+ UInt16(place)
            let part = Array(bytes.dropFirst(place * 4).prefix(4))
            guard place == 0 || (last.map { page <= $0 } ?? false) && !mayBeFirstPage(part), page >> 8 == number >> 8
            else { break }
            memory[page] = part
        }
        return Array(bytes.prefix(4))
    }

    /// Writes the four bytes of one page, whatever its purpose.
    ///
    /// - Throws: ``TagError``; ``TagError/refused(page:nak:)`` for a page that is locked or needs the password.
    package func write(page: UInt16, _ bytes: [UInt8]) throws(TagError) {
        guard bytes.count == Type2Memory.pageSize else { throw .badAnswer }
        // Unknown: do ACKs carry a MAC and advance the counter? So writing is refused.
        guard messaging == nil else { throw .key(.writingUnsupported) }
        try select(sector: UInt8(truncatingIfNeeded: page >> 8))
        memory[page] = nil
        switch try ask(Type2Command.write(UInt8(truncatingIfNeeded: page), bytes), { $0.isEmpty }) {
        case .bytes: return
        case .nak(let code): throw .refused(page: page, nak: code)
        case .silence: throw .refused(page: page, nak: nil)
        case .notPassed(let error): throw .transport(error)
        }
    }

    /// Discards what was read, so that it is read again.
    package func forget() { memory = Type2Memory() }

    /// Returns whether these may be the bytes of page 0, which begins with the UID.
    private func mayBeFirstPage(_ bytes: [UInt8]) -> Bool {
        guard let first = memory[0] ?? (target.uid.count == 7 ? target.uid : nil) else { return true }
        return bytes.prefix(3) == first.prefix(3)
    }

    private var lastPage: UInt16? {
        if case .some(let known?) = knownProduct, let count = known.pageCount { return count - 1 }
        guard let area = memory.capability?.dataArea else { return nil }
        return UInt16(clamping: area.upperBound / Type2Memory.pageSize - 1)
    }

    // MARK: Product identification

    /// Returns the answer to GET_VERSION, eight bytes; `nil` if the tag does not support the command.
    package func version() throws(TagError) -> [UInt8]? {
        if let knownVersion { return knownVersion }
        let answer = try ask(Type2Command.getVersion) { $0.count == 8 }
        guard case .bytes(let bytes) = answer else {
            knownVersion = .some(nil)
            versionRefusal = answer
            return nil
        }
        knownVersion = bytes
        return bytes
    }

    /// How GET_VERSION was refused: NTAG203 sends a NAK, while Ultralight does not answer.
    private var versionRefusal: Answer?

    /// Returns the product, by its version or its other answers; `nil` if they match no product of the table.
    ///
    /// Ultralight C is identified by its answer to the first part of AUTHENTICATE, which changes nothing.
    package func product() throws(TagError) -> Type2Product? {
        if let knownProduct { return knownProduct }
        let product: Type2Product?
        if let version = try version() {
            product = Type2Product.of(version: version)
        } else if case .notPassed? = versionRefusal {
            // A tag that could not be asked may be any product.
            product = nil
        } else if case .bytes = try ask(Type2Command.authenticate, Type2Command.isChallenge) {
            // The tag now waits for the second part; selecting it again ends that.
            try select()
            product = .ultralightC
        } else if case .nak? = versionRefusal {
            product = try refusesPage(0x2C) ? .ntag203 : nil
        } else {
            product = try refusesPage(0x10) ? .ultralight : nil
        }
        knownProduct = .some(product)
        return product
    }

    /// Returns whether a page does not exist, which identifies a product by its size.
    private func refusesPage(_ page: UInt16) throws(TagError) -> Bool {
        do throws(TagError) {
            _ = try read(page: page)
            return false
        } catch .refused {
            return true
        } catch {
            throw error
        }
    }

    /// Returns the answer to READ_SIG, 32 bytes, or 48 of Ultralight AES and NTAG 223/224 DNA; `nil` if the tag does not support the command.
    package func signature() throws(TagError) -> [UInt8]? {
        guard case .bytes(let bytes) = try ask(Type2Command.readSignature, { [32, 48].contains($0.count) }) else {
            return nil
        }
        return bytes
    }

    /// Returns a counter, 24 bits; `nil` if the tag has none with this number, or does not return it.
    package func counter(_ number: UInt8) throws(TagError) -> UInt32? {
        guard case .bytes(let bytes) = try ask(Type2Command.readCounter(number), { $0.count == 3 }) else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Exchanges

    /// The answer of a tag that is present.
    enum Answer: Hashable {
        /// The bytes; none for an acknowledgement.
        case bytes([UInt8])
        /// It refused, with these four bits.
        case nak(UInt8)
        /// It did not answer.
        case silence
        /// The reader does not pass on such a command; the tag received nothing.
        case notPassed(TransportError)
    }

    /// Sends a command until the tag answers it or cannot.
    func ask(_ frame: [UInt8], _ isAnswer: ([UInt8]) -> Bool) throws(TagError) -> Answer {
        var (damaged, silent, odd) = (0, 0, 0)
        while true {
            if cancellation.isCancelled { throw .cancelled }
            let result = Result { () throws(TransportError) in
                try exchange(frame)
            }
            switch result {
            case .success(let answer):
                let bytes = answer == [Type2Command.ack] ? [] : answer
                if isAnswer(bytes) { return .bytes(bytes) }
                try select()
                if let code = answer.first, answer.count == 1, code & 0xF0 == 0 { return .nak(code) }
                odd += 1
                guard odd < Attempts.damaged else { throw .badAnswer }
            case .failure(.noAnswer), .failure(.cardReleased):
                silent += 1
                try select()
                if silent == Attempts.silent { return .silence }
            case .failure(.cancelled): throw .cancelled
            case .failure(.unsupported(let detail)):
                if let code = frame.first { notPassed.insert(code) }
                return .notPassed(.unsupported(detail: detail))
            case .failure(let error):
                damaged += 1
                guard error.isTransient, damaged < Attempts.damaged else { throw .transport(error) }
                try select()
            }
        }
    }

    /// Sends a command, with its code where the tag wants one; a NAK has none.
    private func exchange(_ frame: [UInt8]) throws(TransportError) -> [UInt8] {
        guard var messaging, let command = try? messaging.wrapped(frame) else {
            return try reader.transceive(frame, timeout: Type2Tag.timeout)
        }
        defer { self.messaging = messaging }
        let answer = try reader.transceive(command, timeout: Type2Tag.timeout)
        guard answer.count > 1 else { return answer }
        guard let content = try? messaging.unwrapped(answer) else { throw .corrupted(status: 0) }
        return content
    }

    /// Selects the tag again.
    ///
    /// - Throws: ``TagError/tagLost`` if it does not answer, or another one does; ``TagError/keyRefused``.
    func select() throws(TagError) {
        var isUnproven = false
        for attempt in 1...Attempts.activation {
            if cancellation.isCancelled { throw .cancelled }
            let result = Result { () throws(TransportError) in try reader.activate(.typeA(isoDEP: false)) }
            switch result {
            case .success(.typeA(let found)?) where isSameTag(found):
                let lost = sector
                messaging = nil
                sector = 0
                try select(sector: lost)
                if let password { try resend(password) }
                if try proof.map(proves) ?? true { return }
                isUnproven = true
            case .success: continue
            case .failure(.cancelled): throw .cancelled
            case .failure(let error):
                guard error.isTransient, attempt < Attempts.activation else { throw .transport(error) }
            }
        }
        throw isUnproven ? .keyRefused : .tagLost
    }

    /// Sends a password that the tag accepted before; one that it refuses now is not sent again.
    private func resend(_ password: Type2Password) throws(TagError) {
        self.password = nil
        try send(password)
        self.password = password
    }

    func checkCancellation() throws(TagError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    /// A random UID, four bytes from 08 on, changes each time.
    private func isSameTag(_ found: TypeATarget) -> Bool {
        found.uid == target.uid || (found.uid.count == 4 && found.uid.first == 0x08 && target.uid.first == 0x08)
    }

    /// Selects a sector of 256 pages.
    private func select(sector wanted: UInt8) throws(TagError) {
        guard wanted != sector else { return }
        do throws(TransportError) {
            try selectSector(wanted)
        } catch {
            throw .transport(error)
        }
    }

    private func selectSector(_ number: UInt8) throws(TransportError) {
        let answer = try reader.transceive(Type2Command.sectorSelect, timeout: Type2Tag.timeout)
        guard answer == [Type2Command.ack] || answer.isEmpty else { throw .unsupported(detail: .init(.sector)) }
        do {
            // No answer means success.
            _ = try reader.transceive(Type2Command.sector(number), timeout: .milliseconds(10))
        } catch .noAnswer {
            sector = number
            return
        } catch {
            throw error
        }
        throw .unsupported(detail: .init(.sector))
    }
}

/// The commands of Type 2 Tags that Kazasu sends, without their CRC. Sources: NXP data sheets, nfcpy `tt2.py`.
package enum Type2Command {
    /// READ: sixteen bytes, four pages, from a page on; at the end of the memory it continues with page 0.
    static func read(_ page: UInt8) -> [UInt8] { [0x30, page] }
    /// FAST_READ: all pages from the first to the last.
    static func fastRead(_ first: UInt8, _ last: UInt8) -> [UInt8] { [0x3A, first, last] }
    /// WRITE: the four bytes of one page.
    static func write(_ page: UInt8, _ bytes: [UInt8]) -> [UInt8] { [0xA2, page] + bytes }
    /// GET_VERSION: eight bytes.
    static let getVersion: [UInt8] = [0x60]
    /// PWD_AUTH, which four bytes follow: PACK, two bytes, or a NAK.
    static let passwordAuthentication: UInt8 = 0x1B
    /// The NAK of a tag that accepts no password any more.
    static let locked: UInt8 = 0x04
    /// READ_CNT: three bytes, least significant first.
    static func readCounter(_ number: UInt8) -> [UInt8] { [0x39, number] }
    /// READ_SIG: 32 bytes, or 48.
    static let readSignature: [UInt8] = [0x3C, 0x00]
    /// The first part of Ultralight C's AUTHENTICATE: `AF` and eight bytes. It does not authenticate anything.
    static let authenticate: [UInt8] = [0x1A, 0x00]
    /// The first part of an authentication with a key of Ultralight AES: `AF` and sixteen bytes.
    static func authenticate(_ number: UInt8) -> [UInt8] { [0x1A, number] }
    /// The first byte of the first answer and of the second part of AUTHENTICATE.
    static let more: UInt8 = 0xAF
    /// The first byte of the last answer to AUTHENTICATE.
    static let done: UInt8 = 0x00
    /// Returns whether an answer is that to the first part of AUTHENTICATE.
    static func isChallenge(_ answer: [UInt8]) -> Bool { answer.count == 9 && answer.first == more }
    /// The first part of SECTOR_SELECT.
    static let sectorSelect: [UInt8] = [0xC2, 0xFF]
    /// The second part of SECTOR_SELECT; no answer means success.
    static func sector(_ number: UInt8) -> [UInt8] { [number, 0x00, 0x00, 0x00] }

    /// Returns the data sheets' name of a command, by its code.
    package static func name(of code: UInt8) -> String? {
        switch code {
        case 0x30: "READ"
        case 0x3A: "FAST_READ"
        case 0xA2: "WRITE"
        case 0x60: "GET_VERSION"
        case 0x39: "READ_CNT"
        case 0x3C: "READ_SIG"
        case 0x1A: "AUTHENTICATE"
        case 0x1B: "PWD_AUTH"
        case 0xC2: "SECTOR_SELECT"
        default: nil
        }
    }

    /// The acknowledgement, four bits.
    static let ack: UInt8 = 0x0A
    /// The maximum number of pages in one FAST_READ, so that the answer fits into every reader.
    static let fastPages: UInt16 = 60
}
