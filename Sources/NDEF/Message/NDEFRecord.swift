// SPDX-License-Identifier: Apache-2.0

/// One record of an NDEF message, its chunks put together.
public struct NDEFRecord: Hashable, Sendable {
    /// How ``type`` is to be read.
    public var format: TypeNameFormat
    /// The type, up to 255 bytes; empty where the format has none.
    public var type: [UInt8]
    /// The id, up to 255 bytes; `nil` when the record has no such field.
    public var id: [UInt8]?
    /// The payload.
    public var payload: [UInt8]

    /// A record of these fields; whether they fit together is checked when it is encoded.
    public init(format: TypeNameFormat, type: [UInt8] = [], id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.format = format
        self.type = type
        self.id = id
        self.payload = payload
    }

    /// A record of a type of ASCII letters.
    public init(format: TypeNameFormat, type: String, id: [UInt8]? = nil, payload: [UInt8] = []) {
        self.init(format: format, type: Array(type.utf8), id: id, payload: payload)
    }

    /// The record that says nothing: what an emptied tag holds.
    public static let empty = NDEFRecord(format: .empty)

    /// The type as text; bytes that are no UTF-8 are replaced.
    public var typeText: String { String(decoding: type, as: UTF8.self) }
}
