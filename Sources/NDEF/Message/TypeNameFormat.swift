// SPDX-License-Identifier: Apache-2.0

/// The Type Name Format (TNF) of an NDEF record: how its type is to be read.
public enum TypeNameFormat: UInt8, Hashable, Sendable, CaseIterable {
    /// No type, no id and no payload.
    case empty = 0
    /// A type of the NFC Forum, as in `T`, `U`, `Sp`.
    case wellKnown = 1
    /// A media type of RFC 2046, as in `text/plain`.
    case mime = 2
    /// An absolute URI of RFC 3986 is the type.
    case absoluteURI = 3
    /// A type of somebody else, as in `android.com:pkg`.
    case external = 4
    /// No type: the payload is not described.
    case unknown = 5
    /// A later chunk of the record before it; never in a whole record.
    case unchanged = 6

    /// Whether a record of this format has a type.
    public var hasType: Bool {
        switch self {
        case .wellKnown, .mime, .absoluteURI, .external: true
        case .empty, .unknown, .unchanged: false
        }
    }
}
