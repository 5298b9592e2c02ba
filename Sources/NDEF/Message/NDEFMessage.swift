// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// An NDEF message: one record or more.
public struct NDEFMessage: Hashable, Sendable {
    /// The records in order; at least one in a message that was decoded.
    public var records: [NDEFRecord]

    /// A message of these records.
    public init(_ records: [NDEFRecord]) {
        self.records = records
    }

    /// The message that says nothing, `D0 00 00`.
    public static let empty = NDEFMessage([.empty])

    /// Reads a message strictly; chunks are put together.
    ///
    /// - Parameters:
    ///   - bytes: the message and nothing else.
    ///   - allowsTrailingBytes: let bytes behind the last record be, as a few writers leave them.
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

    /// The bytes of the message, every record in one piece.
    ///
    /// - Throws: ``NDEFError`` when there is no record, or one whose fields do not fit together.
    public func encoded() throws(NDEFError) -> [UInt8] {
        guard !records.isEmpty else { throw NDEFError(.noRecord) }
        var bytes: [UInt8] = []
        for (place, record) in records.enumerated() {
            // A chunk is no record.
            guard record.format != .unchanged else { throw NDEFError(.chunkWithoutStart, offset: bytes.count) }
            let frame = NDEFFrame(
                record, beginsMessage: place == 0, endsMessage: place == records.count - 1)
            bytes += try frame.encoded()
        }
        return bytes
    }
}
