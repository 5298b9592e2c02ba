// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// A command APDU (ISO/IEC 7816-4 §5.1): header, data, and how many bytes are asked for.
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
    /// Ne, how many bytes of answer are asked for, 0 to 65,536: 256 (short) and 65,536 (extended) ask for all there is;
    /// 0 is no Le field.
    public var ne: Int
    /// How Lc and Le are written.
    public var lengthForm: APDULengthForm

    /// A command.
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

    /// Whether Lc and Le are written in the extended form.
    public var isExtended: Bool {
        lengthForm == .extended || lengthForm == .automatic && (data.count > 0xFF || ne > 0x100)
    }

    /// The bytes as the card gets them: cases 1 to 4, short or extended; never a short Lc with an extended Le.
    ///
    /// - Throws: ``APDUFlaw``.
    public func encoded() throws(APDUFlaw) -> [UInt8] {
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
    /// - Throws: ``APDUFlaw/tooShort(length:)``, ``APDUFlaw/inconsistentLength(length:)``.
    public init(decoding bytes: some Collection<UInt8>) throws(APDUFlaw) {
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

extension ByteWriter {
    /// One or two bytes of a length; 256 and 65,536 become 0.
    fileprivate mutating func write(_ length: Int, _ isExtended: Bool) {
        if isExtended { write(UInt8(truncatingIfNeeded: length >> 8)) }
        write(UInt8(truncatingIfNeeded: length))
    }
}

extension CommandAPDU: CustomStringConvertible, CustomReflectable {
    /// Header, data and Ne in hexadecimal and decimal; the data of a PIN command is never told.
    public var description: String {
        var text = Hex.encode([cla.rawValue, ins.rawValue, p1, p2], uppercase: true)
        if !data.isEmpty { text += " " + (ins.needsGuard ? "Redacted" : Hex.encode(data, uppercase: true)) }
        return ne > 0 ? "\(text) Ne \(ne)" : text
    }

    /// Only the ``description``, so that no dump of a value tells a PIN.
    public var customMirror: Mirror { Mirror(self, children: ["apdu": description]) }
}
