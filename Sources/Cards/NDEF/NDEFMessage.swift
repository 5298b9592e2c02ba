// SPDX-License-Identifier: Apache-2.0

package import ByteCodec

/// An NDEF message: one or more records.
public struct NDEFMessage: Hashable, Sendable {
    /// The records in order; at least one in a decoded message.
    public var records: [NDEFRecord]

    /// Creates a message of these records.
    public init(_ records: [NDEFRecord]) {
        self.records = records
    }

    /// The empty message, `D0 00 00`.
    public static let empty = NDEFMessage([.empty])

    /// Decodes a message strictly, and joins chunked records.
    ///
    /// - Parameters:
    ///   - bytes: the message and nothing else.
    ///   - allowsTrailingBytes: accept bytes after the last record, which a few writers leave.
    /// - Throws: ``NDEFError`` with the reason and the offset of the record.
    public init(decoding bytes: [UInt8], allowingTrailingBytes allowsTrailingBytes: Bool = false) throws(NDEFError) {
        var reader = ByteReader(bytes)
        var assembly = NDEFAssembly()
        while !assembly.isComplete {
            let start = reader.offset
            guard reader.remaining > 0 else {
                throw NDEFError(
                    start == 0 ? .noRecord : assembly.isWithinRecord ? .chunkUnfinished : .noMessageEnd, offset: start)
            }
            try assembly.add(NDEFFrame(from: &reader), at: start)
        }
        guard reader.remaining == 0 || allowsTrailingBytes else {
            throw NDEFError(.trailingBytes, offset: reader.offset)
        }
        records = assembly.records
    }

    /// Encodes the message, every record in one piece.
    ///
    /// - Throws: ``NDEFError`` when there is no record, or the fields of a record are inconsistent.
    public func encoded() throws(NDEFError) -> [UInt8] {
        guard !records.isEmpty else { throw NDEFError(.noRecord) }
        var bytes: [UInt8] = []
        for (place, record) in records.enumerated() {
            // A chunk is not a record.
            guard record.format != .unchanged else { throw NDEFError(.chunkWithoutStart, offset: bytes.count) }
            let frame = NDEFFrame(
                record, beginsMessage: place == 0, endsMessage: place == records.count - 1)
            bytes += try frame.encoded()
        }
        return bytes
    }
}

/// One record of an NDEF message, with its chunks joined.
public struct NDEFRecord: Hashable, Sendable {
    /// The interpretation of ``type``.
    public var format: TypeNameFormat
    /// The type, up to 255 bytes; empty where the format has none.
    public var type: [UInt8]
    /// The id, up to 255 bytes; `nil` when the record has no such field.
    public var id: [UInt8]?
    /// The payload.
    public var payload: [UInt8]

    /// Creates a record of these fields; their consistency is checked when it is encoded.
    public init(format: TypeNameFormat, type: [UInt8] = [], id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.format = format
        self.type = type
        self.id = id
        self.payload = payload
    }

    /// Creates a record whose type is ASCII text.
    public init(format: TypeNameFormat, type: String, id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.init(format: format, type: Array(type.utf8), id: id, payload: payload)
    }

    /// The empty record, as on an emptied tag.
    public static let empty = NDEFRecord(format: .empty)

    /// The type as text; bytes that are not UTF-8 are replaced.
    public var typeText: String { String(decoding: type, as: UTF8.self) }
}

/// The Type Name Format (TNF) of an NDEF record, which determines the interpretation of its type.
public enum TypeNameFormat: UInt8, Hashable, Sendable, CaseIterable {
    /// No type, no id and no payload.
    case empty = 0
    /// An NFC Forum type, as in `T`, `U`, `Sp`.
    case wellKnown = 1
    /// An RFC 2046 media type, as in `text/plain`.
    case mime = 2
    /// The type is an absolute URI (RFC 3986).
    case absoluteURI = 3
    /// An external type, as in `android.com:pkg`.
    case external = 4
    /// No type: the payload is undescribed.
    case unknown = 5
    /// A later chunk of the preceding record; never in a whole record.
    case unchanged = 6

    /// Whether a record of this format has a type.
    public var hasType: Bool {
        switch self {
        case .wellKnown, .mime, .absoluteURI, .external: true
        case .empty, .unknown, .unchanged: false
        }
    }
}

/// A record as encoded: a whole one, or one chunk of a record.
///
/// Layout (NFC Forum NDEF 1.0, §3.2): flags MB 80, ME 40, CF 20, SR 10, IL 08 and the format in the low three bits;
/// length of the type; length of the payload, one byte when SR, else four, big-endian; length of the id when IL; type,
/// id, payload.
package struct NDEFFrame: Hashable, Sendable {
    /// Whether it begins the message (MB).
    package var beginsMessage: Bool
    /// Whether it ends the message (ME).
    package var endsMessage: Bool
    /// Whether another chunk of the same record follows (CF).
    package var isContinued: Bool
    /// The fields.
    package var record: NDEFRecord

    package init(_ record: NDEFRecord, beginsMessage: Bool, endsMessage: Bool, isContinued: Bool = false) {
        self.record = record
        self.beginsMessage = beginsMessage
        self.endsMessage = endsMessage
        self.isContinued = isContinued
    }

    /// Reads the next frame.
    ///
    /// - Throws: ``NDEFError`` with the offset at which the record begins.
    package init(from reader: inout ByteReader) throws(NDEFError) {
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
        // The lengths total at most 4 GB, and Int has 64 bits.
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

    /// Encodes the frame, with a short payload length where it fits.
    ///
    /// - Throws: ``NDEFError`` when the fields are inconsistent.
    package func encoded() throws(NDEFError) -> [UInt8] {
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

/// Assembles the records of a message from frames, chunk by chunk, and checks their order.
struct NDEFAssembly {
    private(set) var records: [NDEFRecord] = []
    private(set) var isComplete = false
    /// The record that still lacks later chunks.
    private var pending: NDEFRecord?
    private var hasBegun = false

    var isWithinRecord: Bool { pending != nil }

    /// Adds the next frame.
    ///
    /// - Throws: ``NDEFError`` when it is not allowed at this position.
    mutating func add(_ frame: NDEFFrame, at offset: Int) throws(NDEFError) {
        guard frame.beginsMessage != hasBegun else {
            throw NDEFError(hasBegun ? .secondMessageBegin : .noMessageBegin, offset: offset)
        }
        hasBegun = true
        if frame.isContinued, frame.endsMessage { throw NDEFError(.chunkUnfinished, offset: offset) }
        if pending != nil {
            guard frame.record.format == .unchanged else { throw NDEFError(.chunkUnfinished, offset: offset) }
            guard frame.record.id == nil else { throw NDEFError(.chunkWithID, offset: offset) }
            pending?.payload += frame.record.payload
        } else {
            guard frame.record.format != .unchanged else { throw NDEFError(.chunkWithoutStart, offset: offset) }
            pending = frame.record
        }
        if !frame.isContinued, let record = pending {
            records.append(record)
            pending = nil
        }
        isComplete = frame.endsMessage
    }
}
