// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// A record as it stands in the bytes: a whole one, or one chunk of a record.
///
/// Layout (NFC Forum NDEF 1.0, §3.2): flags MB 80, ME 40, CF 20, SR 10, IL 08 and the format in the low three bits; length
/// of the type; length of the payload, one byte when SR, else four, big-endian; length of the id when IL; type, id, payload.
public struct NDEFFrame: Hashable, Sendable {
    /// Whether it begins the message (MB).
    public var beginsMessage: Bool
    /// Whether it ends the message (ME).
    public var endsMessage: Bool
    /// Whether another chunk of the same record follows (CF).
    public var isContinued: Bool
    /// Its fields.
    public var record: NDEFRecord

    /// A record in its place.
    public init(_ record: NDEFRecord, beginsMessage: Bool, endsMessage: Bool, isContinued: Bool = false) {
        self.record = record
        self.beginsMessage = beginsMessage
        self.endsMessage = endsMessage
        self.isContinued = isContinued
    }

    /// Takes the next record.
    ///
    /// - Throws: ``NDEFError`` with the offset at which the record begins.
    public init(from reader: inout ByteReader) throws(NDEFError) {
        let start = reader.offset
        let flags: UInt8
        let format: TypeNameFormat
        let (typeLength, payloadLength, idLength): (Int, Int, Int?)
        do throws(ByteCodecError) {
            flags = try reader.readUInt8()
            typeLength = Int(try reader.readUInt8())
            payloadLength = flags & 0x10 != 0 ? Int(try reader.readUInt8()) : Int(try reader.readUInt32(.big))
            idLength = flags & 0x08 != 0 ? Int(try reader.readUInt8()) : nil
        } catch {
            throw NDEFError(.endsWithinRecord, offset: start)
        }
        guard let known = TypeNameFormat(rawValue: flags & 0x07) else {
            throw NDEFError(.reservedFormat, offset: start)
        }
        format = known
        guard format.hasType || typeLength == 0 else { throw NDEFError(.typeNotAllowed, offset: start) }
        guard !format.hasType || typeLength > 0 else { throw NDEFError(.typeMissing, offset: start) }
        guard format != .empty || (payloadLength == 0 && idLength ?? 0 == 0) else {
            throw NDEFError(.emptyRecordNotEmpty, offset: start)
        }
        // Lengths are at most 4 GB in all, and Int has 64 bits.
        guard typeLength + (idLength ?? 0) + payloadLength <= reader.remaining else {
            throw NDEFError(.lengthBeyondEnd, offset: start)
        }
        do throws(ByteCodecError) {
            let type = Array(try reader.readBytes(typeLength))
            var id: [UInt8]?
            if let idLength { id = Array(try reader.readBytes(idLength)) }
            let payload = Array(try reader.readBytes(payloadLength))
            record = NDEFRecord(format: format, type: type, id: id, payload: payload)
        } catch {
            throw NDEFError(.lengthBeyondEnd, offset: start)
        }
        beginsMessage = flags & 0x80 != 0
        endsMessage = flags & 0x40 != 0
        isContinued = flags & 0x20 != 0
    }

    /// The bytes, with a short payload length where it fits.
    ///
    /// - Throws: ``NDEFError`` when the fields do not fit together.
    public func encoded() throws(NDEFError) -> [UInt8] {
        let (format, payload) = (record.format, record.payload)
        guard format.hasType || record.type.isEmpty else { throw NDEFError(.typeNotAllowed) }
        guard !format.hasType || !record.type.isEmpty else { throw NDEFError(.typeMissing) }
        guard format != .empty || (payload.isEmpty && (record.id ?? []).isEmpty) else {
            throw NDEFError(.emptyRecordNotEmpty)
        }
        guard record.type.count <= 0xFF, (record.id?.count ?? 0) <= 0xFF else { throw NDEFError(.fieldTooLong) }
        guard let length = UInt32(exactly: payload.count) else { throw NDEFError(.payloadTooLong) }
        let isShort = length <= 0xFF
        var flags = format.rawValue
        if beginsMessage { flags |= 0x80 }
        if endsMessage { flags |= 0x40 }
        if isContinued { flags |= 0x20 }
        if isShort { flags |= 0x10 }
        if record.id != nil { flags |= 0x08 }
        var bytes = ByteWriter([flags, UInt8(truncatingIfNeeded: record.type.count)])
        if isShort { bytes.write(UInt8(truncatingIfNeeded: length)) } else { bytes.write(length, .big) }
        if let id = record.id { bytes.write(UInt8(truncatingIfNeeded: id.count)) }
        bytes.write(record.type)
        bytes.write(record.id ?? [])
        bytes.write(payload)
        return bytes.bytes
    }
}
