// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A command APDU (ISO/IEC 7816-4 §5.1): header, data, and the expected length.
public struct CommandAPDU: Hashable, Sendable {
    /// CLA.
    public var cla: ClassByte
    /// INS.
    public var ins: Instruction
    /// P1.
    public var p1: UInt8
    /// P2.
    public var p2: UInt8
    /// The data field, up to 65,535 bytes; empty for none.
    public var data: [UInt8]
    /// Ne, the expected number of answer bytes, 0 to 65,536.
    ///
    /// 256 (short) and 65,536 (extended) request everything available; 0 means no Le field.
    public var ne: Int
    /// The encoding of Lc and Le.
    public var lengthForm: APDULengthForm

    /// Makes a command.
    public init(
        _ ins: Instruction, cla: ClassByte = .interindustry, p1: UInt8 = 0, p2: UInt8 = 0, data: [UInt8] = [],
        ne: Int = 0, lengthForm: APDULengthForm = .automatic
    ) {
        self.cla = cla
        self.ins = ins
        self.p1 = p1
        self.p2 = p2
        self.data = data
        self.ne = ne
        self.lengthForm = lengthForm
    }

    /// Whether Lc and Le are encoded in the extended form.
    package var isExtended: Bool {
        lengthForm == .extended || lengthForm == .automatic && (data.count > 0xFF || ne > 0x100)
    }

    /// Returns the bytes on the wire: cases 1 to 4, short or extended; never a short Lc with an extended Le.
    ///
    /// - Throws: ``APDUError``.
    public func encoded() throws(APDUError) -> [UInt8] {
        let isExtended = isExtended
        guard data.count <= (isExtended ? 0xFFFF : 0xFF) else { throw .dataTooLong(data.count) }
        guard (0...(isExtended ? 0x10000 : 0x100)).contains(ne) else { throw .expectedLength(ne) }
        var apdu = ByteWriter([cla.rawValue, ins.rawValue, p1, p2])
        if isExtended, !data.isEmpty || ne > 0 { apdu.write(0) }
        if !data.isEmpty {
            apdu.write(data.count, isExtended)
            apdu.write(data)
        }
        if ne > 0 { apdu.write(ne, isExtended) }
        return apdu.bytes
    }

    /// Reads the bytes of a command.
    ///
    /// - Throws: ``APDUError/tooShort(length:)``, ``APDUError/inconsistentLength(length:)``.
    public init(decoding bytes: some Collection<UInt8>) throws(APDUError) {
        let count = bytes.count
        var reader = ByteReader(Array(bytes))
        do throws(ByteCodecError) {
            let cla = ClassByte(rawValue: try reader.readUInt8())
            self.init(
                Instruction(rawValue: try reader.readUInt8()), cla: cla, p1: try reader.readUInt8(),
                p2: try reader.readUInt8(), lengthForm: .short)
        } catch {
            throw .tooShort(length: count)
        }
        guard reader.remaining > 0 else { return }
        do throws(ByteCodecError) {
            let first = Int(try reader.readUInt8())
            if first == 0, reader.remaining > 0 {
                lengthForm = .extended
                let length = Int(try reader.readUInt16(.big))
                if reader.remaining == 0 {
                    ne = length == 0 ? 0x10000 : length
                } else {
                    guard length > 0 else { throw ByteCodecError.tooShort(offset: 5, missing: 1) }
                    data = Array(try reader.readBytes(length))
                    if reader.remaining > 0 {
                        let expected = Int(try reader.readUInt16(.big))
                        ne = expected == 0 ? 0x10000 : expected
                    }
                }
            } else if reader.remaining == 0 {
                ne = first == 0 ? 0x100 : first
            } else {
                data = Array(try reader.readBytes(first))
                if reader.remaining > 0 {
                    let expected = Int(try reader.readUInt8())
                    ne = expected == 0 ? 0x100 : expected
                }
            }
            try reader.expectEnd()
        } catch {
            throw .inconsistentLength(length: count)
        }
    }
}

extension CommandAPDU {
    /// Whether this is a VERIFY as a residence card expects it for the number that is printed on it: class 08, P2 86, one encrypted
    /// block. In another application the same bytes could be a PIN, so the session asks which one is selected, too.
    package var hasFormOfResidenceNumber: Bool {
        cla == 0x08 && ins == .verify && p1 == 0 && p2 == 0x86 && ne == 0 && data.count == 19
            && data.starts(with: [0x86, 0x11, 0x01])
    }
}

extension ByteWriter {
    /// Writes one or two bytes of a length; 256 and 65,536 become 0.
    fileprivate mutating func write(_ length: Int, _ isExtended: Bool) {
        if isExtended { write(UInt8(truncatingIfNeeded: length >> 8)) }
        write(UInt8(truncatingIfNeeded: length))
    }
}

extension CommandAPDU: CustomStringConvertible, CustomReflectable {
    /// Header, data and Ne in hexadecimal and decimal; the data of a PIN command is never shown.
    public var description: String {
        var text = Hex.encode([cla.rawValue, ins.rawValue, p1, p2], uppercase: true)
        if !data.isEmpty { text += " " + (ins.needsGuard ? "Redacted" : Hex.encode(data, uppercase: true)) }
        return ne > 0 ? "\(text) Ne \(ne)" : text
    }

    /// Contains only the ``description``, so that dumping a value never shows a PIN.
    public var customMirror: Mirror { Mirror(self, children: ["apdu": description]) }
}

/// CLA, the class byte of a command APDU (ISO/IEC 7816-4 §5.4.1).
public struct ClassByte: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The byte.
    public let rawValue: UInt8

    /// Makes a class from its byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Makes a class from its byte.
    public init(integerLiteral value: UInt8) {
        rawValue = value
    }

    /// 00: interindustry, channel 0, no secure messaging.
    public static let interindustry: ClassByte = 0x00

    /// Whether the standard defines the class: 00 to 7F except the reserved 20 to 3F.
    package var isInterindustry: Bool { rawValue < 0x20 || (0x40..<0x80).contains(rawValue) }

    /// Whether more commands of a chain follow; never for a proprietary class.
    package var isChaining: Bool { isInterindustry && rawValue & 0x10 != 0 }

    /// Whether the command is protected with its header, as passports use it: its code covers a counter (ISO/IEC 7816-4 §5.4.1).
    var isAuthenticated: Bool { rawValue < 0x20 && rawValue & 0x0C == 0x0C }

    /// The logical channel: 0 to 3 in classes 0X and 1X, 4 to 19 in 4X to 7X; `nil` in a proprietary class.
    package var channel: Int? {
        guard isInterindustry else { return nil }
        return rawValue < 0x40 ? Int(rawValue & 0x03) : 4 + Int(rawValue & 0x0F)
    }

    /// Returns whether such a command is for a PC/SC reader, and may carry any frame to the card, including a PIN.
    ///
    /// FF is not a valid card class. Readers execute its commands themselves: the instructions of PC/SC part 3 request
    /// the UID (CA), select (A4), read (B0) and write (D6) storage; others (00, 50, C2, FB) forward their contents.
    package func maySmuggle(_ instruction: Instruction) -> Bool {
        rawValue == 0xFF && ![0xCA, 0xA4, 0xB0, 0xD6].contains(instruction.rawValue)
    }

    /// Returns the same class with the chaining bit set or cleared; a proprietary class unchanged.
    package func chaining(_ on: Bool) -> ClassByte {
        guard isInterindustry else { return self }
        return ClassByte(rawValue: on ? rawValue | 0x10 : rawValue & ~0x10)
    }
}

extension ClassByte: CustomStringConvertible {
    /// Two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}

/// Why a command APDU cannot be sent, or why bytes are not a valid one.
@nonexhaustive
public enum APDUError: Error, Hashable, Sendable {
    /// Fewer than the four bytes of the header.
    case tooShort(length: Int)
    /// Lc, Le and the number of bytes match none of the standard's cases.
    case inconsistentLength(length: Int)
    /// Data of this many bytes: more than 65,535, or more than 255 in the short form.
    case dataTooLong(Int)
    /// This expected length is below 0, above 65,536, or above 256 in the short form.
    case expectedLength(Int)
    /// The data must be sent in a chain, and the class of the command does not support chaining.
    case noChaining(ClassByte)
    /// An offset that no command can encode: below 0, or too large for this form of the command.
    case offset(Int)
    /// A list that must not be empty, or exceeds what the command can carry.
    case count(Int)
}

extension APDUError: SelfDescribing {
    /// What is wrong with the command.
    public var message: LocalizedText {
        switch self {
        case .tooShort(let length):
            LocalizedText("\(length) bytes are too short for a command", "\(length) バイトではコマンドになりません")
        case .inconsistentLength(let length):
            LocalizedText("its Lc and Le do not match its \(length) bytes", "Lc・Le と長さ \(length) バイトが合いません")
        case .dataTooLong(let length):
            LocalizedText("its data of \(length) bytes is too long", "データ \(length) バイトは長すぎます")
        case .expectedLength(let length):
            LocalizedText("an answer of \(length) bytes cannot be requested", "\(length) バイトの応答は要求できません")
        case .noChaining(let classByte):
            LocalizedText("class \(classByte) does not support chaining", "クラス \(classByte) では分割して送れません")
        case .offset(let offset): LocalizedText("offset \(offset) is out of range", "オフセット \(offset) は範囲外です")
        case .count(let count): LocalizedText("a list of \(count) entries is out of range", "リストの数 \(count) は範囲外です")
        }
    }
}

/// The encoding of Lc and Le in a command APDU.
public enum APDULengthForm: Hashable, Sendable {
    /// In one byte if both fit, else extended.
    case automatic
    /// In one byte: up to 255 bytes of data, up to 256 bytes of answer.
    case short
    /// In two bytes after a zero byte: up to 65,535 bytes of data, up to 65,536 bytes of answer.
    case extended
}

/// A response APDU (ISO/IEC 7816-4 §5.1): data and status word.
public struct ResponseAPDU: Hashable, Sendable {
    /// The data field; empty for none.
    public var data: [UInt8]
    /// SW1 SW2.
    public var status: StatusWord

    /// Makes an answer.
    public init(data: [UInt8] = [], status: StatusWord) {
        self.data = data
        self.status = status
    }

    /// Reads the bytes of an answer; `nil` if there are fewer than two.
    public init?(decoding bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        guard let sw1 = bytes.element(at: bytes.count - 2), let sw2 = bytes.last else { return nil }
        data = Array(bytes.dropLast(2))
        status = StatusWord(sw1, sw2)
    }

    /// Returns the bytes on the wire.
    public func encoded() -> [UInt8] { data + [status.sw1, status.sw2] }
}
