// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
package import ISO7816

/// A DESFire on a reader: what it shows to everybody, and its files with the key of their owner.
///
/// A key is tried once. Sources: NXP's data sheets by way of libfreefare and Proxmark3.
package final class DESFireTag {
    let link: DESFireLink
    /// What GetVersion said; `nil` before it was asked.
    private var version: DESFireVersion?

    /// Makes the card behind a session.
    package init(session: ISO7816Session) { link = DESFireLink(session: session) }

    /// Asks for the version once.
    ///
    /// - Throws: ``DESFireError/notDESFire``, ``DESFireError/tag(_:)``.
    @discardableResult
    package func identify() throws(DESFireError) -> DESFireVersion {
        if let version { return version }
        let frames: [[UInt8]]
        do throws(DESFireError) {
            // Ends a session that somebody else left open.
            try link.select(.card)
            frames = try link.frames(.version, atMost: 3)
        } catch .refused, .noSuchApplication, .tag(.iso7816(.status)) {
            throw .notDESFire
        } catch {
            throw error
        }
        guard let found = DESFireVersion(frames) else { throw .notDESFire }
        version = found
        return found
    }

    // MARK: Files

    /// Selects an application, and authenticates if the key has a right that not everybody has.
    ///
    /// - Parameters:
    ///   - right: the right that is needed.
    ///   - key: the key of somebody with the right; `nil` if everybody has it.
    ///   - method: the way to authenticate; `nil` for the best that card and key have.
    /// - Returns: the file's settings.
    func open(
        _ file: DESFireFileID, for right: DESFireRight, _ key: DESFireKey?, _ method: DESFireAuthenticationMethod?
    ) throws(DESFireError) -> DESFireFile {
        try identify()
        try link.select(file.application)
        let type = try free { () throws(DESFireError) in try keySettings() }?.type
        if let key, let type, !key.fits(type) { throw .keyLength(type) }
        let shown = try free { () throws(DESFireError) in try settings(of: file) }
        if let shown {
            guard shown.mode(right, key: key?.number) != nil else { throw .notAllowed(file, right) }
        }
        guard let key, shown.map({ $0.owners(of: right).contains(.key(key.number)) }) ?? true else {
            guard let shown else { throw .withheld(file) }
            return shown
        }
        try authenticate(key, type, method)
        if let shown { return shown }
        guard let settings = try free({ () throws(DESFireError) in try settings(of: file) }) else {
            throw .withheld(file)
        }
        guard settings.mode(right, key: key.number) != nil else { throw .notAllowed(file, right) }
        return settings
    }

    /// Authenticates in the selected application, with one proof of the key.
    ///
    /// - Parameter type: the type of its keys; `nil` if the application does not show it.
    /// - Returns: the type of its keys.
    @discardableResult
    func authenticate(
        _ key: DESFireKey, _ type: DESFireKeyType?, _ method: DESFireAuthenticationMethod?
    ) throws(DESFireError) -> DESFireKeyType {
        let version = try identify()
        let types = type.map { [$0] } ?? [.aes, .threeKeyTripleDES, .des].filter { key.fits($0) }
        guard !types.isEmpty else { throw .keyLength(nil) }
        for type in types {
            let best = version.bestMethod(type)
            let method = method ?? best
            guard method.takes(type) else { continue }
            if try link.authenticate(try key.key(type), type, method) { return type }
        }
        throw .otherMethod(method ?? version.bestMethod(types[0]))
    }

    /// Does something that a card may refuse to those without a key; `nil` if it does.
    func free<Value>(_ body: () throws(DESFireError) -> Value) throws(DESFireError) -> Value? {
        do throws(DESFireError) {
            return try body()
        } catch .refused(_, DESFireStatus.authentication), .refused(_, DESFireStatus.denied) {
            return nil
        } catch {
            throw error
        }
    }

    /// The settings of the selected application, the number of its keys and their type.
    func keySettings() throws(DESFireError) -> (settings: UInt8, keys: UInt8, type: DESFireKeyType?) {
        let answer = try link.ask(.keySettings)
        guard answer.count >= 2 else { throw .tag(.badAnswer) }
        return (answer[0], answer[1] & 0x0F, DESFireKeyType(bits: answer[1]))
    }

    /// The settings of a file of the selected application.
    func settings(of file: DESFireFileID) throws(DESFireError) -> DESFireFile {
        let answer: [UInt8]
        do throws(DESFireError) {
            answer = try link.ask(.fileSettings, [file.number])
        } catch .refused(_, DESFireStatus.noSuchFile) {
            throw .noSuchFile(file)
        } catch {
            throw error
        }
        guard let settings = DESFireFile(file.number, answer) else { throw .tag(.badAnswer) }
        return settings
    }

    // MARK: Reading

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - key: the key of somebody with the right; `nil` reads what everybody may read.
    ///   - method: the way to authenticate; `nil` for the best that card and key have.
    package func read(
        _ file: DESFireFileID, key: DESFireKey? = nil, method: DESFireAuthenticationMethod? = nil
    ) throws(DESFireError) -> (file: DESFireFile, contents: DESFireContents) {
        let settings = try open(file, for: .read, key, method)
        return (settings, try contents(settings))
    }

    /// Reads a file of the selected application.
    func contents(_ file: DESFireFile) throws(DESFireError) -> DESFireContents {
        switch file.extent {
        case .bytes(let size): return .data(try bytes(of: file, 0, size))
        case .value: return .value(try value(of: file))
        case .records(let size, _, let count): return .records(try records(of: file, size, skipping: 0, count))
        }
    }

    /// The longest part of a file that one command reads or writes in frames, and in one APDU.
    private static let part = 1024
    private static let wholePart = 128

    private func mode(_ file: DESFireFile, _ right: DESFireRight) throws(DESFireError) -> DESFireMode {
        guard let mode = file.mode(right, key: link.keyNumber) else { throw .tag(.badAnswer) }
        return mode
    }

    func bytes(of file: DESFireFile, _ offset: Int, _ count: Int) throws(DESFireError) -> [UInt8] {
        let mode = try mode(file, .read)
        var bytes: [UInt8] = []
        while bytes.count < count {
            let wanted = min(link.isEV2 ? Self.wholePart : Self.part, count - bytes.count)
            let header = [file.number] + field(offset + bytes.count) + field(wanted)
            let part = try link.ask(
                link.isEV2 ? .readDataWhole : .readData, header, count: wanted, mode)
            guard part.count == wanted else { throw .tag(.badAnswer) }
            bytes += part
        }
        return bytes
    }

    func value(of file: DESFireFile) throws(DESFireError) -> Int32 {
        let bytes = try link.ask(.readValue, [file.number], count: 4, try mode(file, .read))
        guard bytes.count == 4 else { throw .tag(.badAnswer) }
        return Int32(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// Reads records, the oldest first.
    ///
    /// - Parameter newest: how many of the newest are left out.
    func records(
        of file: DESFireFile, _ size: Int, skipping newest: Int, _ count: Int
    ) throws(DESFireError) -> [[UInt8]] {
        let mode = try mode(file, .read)
        var records: [[UInt8]] = []
        while records.count < count {
            let isWhole = link.isEV2 && size <= Self.wholePart
            let wanted = min(max(1, (isWhole ? Self.wholePart : Self.part) / size), count - records.count)
            let header = [file.number] + field(newest + count - records.count - wanted) + field(wanted)
            let part = try link.ask(
                isWhole ? .readRecordsWhole : .readRecords, header, count: wanted * size, mode)
            guard part.count == wanted * size else { throw .tag(.badAnswer) }
            for place in 0..<wanted { records.append(Array(part[(place * size)..<(place * size + size)])) }
        }
        return records
    }

    // MARK: Writing in the selected application

    func write(_ file: DESFireFile, at offset: Int, _ bytes: [UInt8]) throws(DESFireError) {
        let mode = try mode(file, .write)
        var sent = 0
        while sent < bytes.count {
            let part = Array(bytes[sent...].prefix(link.isEV2 ? Self.wholePart : Self.part))
            let header = [file.number] + field(offset + sent) + field(part.count)
            let isRecord = if case .records = file.extent { true } else { false }
            let command: DESFireCommand =
                switch (isRecord, link.isEV2) {
                case (true, true): .writeRecordWhole
                case (true, false): .writeRecord
                case (false, true): .writeDataWhole
                case (false, false): .writeData
                }
            _ = try link.ask(command, header, data: part, mode)
            sent += part.count
        }
    }

    func change(_ file: DESFireFile, by amount: Int32) throws(DESFireError) {
        let (right, command): (DESFireRight, DESFireCommand) = amount < 0 ? (.debit, .debit) : (.credit, .credit)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: amount.magnitude >> (8 * $0)) }
        _ = try link.ask(command, [file.number], data: bytes, try mode(file, right))
    }

    /// Three bytes, least significant first.
    private func field(_ number: Int) -> [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}

/// What GetVersion tells.
public struct DESFireVersion: Hashable, Sendable {
    /// Vendor, type, subtype, major and minor version, storage, protocol.
    public let hardware: [UInt8]
    /// The same of the software.
    public let software: [UInt8]
    /// Seven bytes; `nil` if the card shows a random one.
    public let uid: [UInt8]?

    /// The vendor NXP, and the type of DESFire.
    private static let beginning: [UInt8] = [0x04, 0x01]

    /// Parses the three parts; `nil` if they are not those of a DESFire.
    init?(_ parts: [[UInt8]]) {
        guard parts.count == 3, parts[0].count == 7, parts[1].count == 7, parts[2].count >= 14,
            parts[0].starts(with: Self.beginning)
        else { return nil }
        (hardware, software) = (parts[0], parts[1])
        let uid = Array(parts[2][..<7])
        self.uid = uid.contains { $0 != 0 } ? uid : nil
    }

    /// The versions in a dump, seven bytes each; `nil` if they are not those of a DESFire.
    init?(hardware: [UInt8], software: [UInt8]) {
        guard hardware.count == 7, software.count == 7, hardware.starts(with: Self.beginning) else { return nil }
        (self.hardware, self.software, uid) = (hardware, software, nil)
    }

    /// 0 for MF3ICD40, 1 for EV1, 2 for EV2, 3 for EV3.
    public var generation: Int { Int(software[3]) }

    /// The name of the product, with the size of its memory.
    public var product: String {
        let generation = self.generation
        let name = generation == 0 ? "MIFARE DESFire" : "MIFARE DESFire EV\(generation)"
        let storage = Int(hardware[5])
        // The lowest bit says "more than".
        guard storage & 1 == 0, (20...40).contains(storage) else { return name }
        return "\(name) \((1 << (storage / 2)) / 1024)K"
    }

    /// The best way to authenticate that the card has for keys of a type.
    func bestMethod(_ type: DESFireKeyType) -> DESFireAuthenticationMethod {
        switch type {
        case .aes: generation >= 2 ? .ev2 : .aes
        case .threeKeyTripleDES: .iso
        case .des: generation >= 1 ? .iso : .d40
        }
    }
}
