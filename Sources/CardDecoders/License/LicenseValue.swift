// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// The value of an item of a licence.
public enum LicenseValue: Hashable, Sendable {
    /// The item has no bytes: the card says that there is none.
    case absent
    /// A text of JIS X 0208.
    case text(JISText)
    /// Characters of JIS X 0201.
    case code(String)
    /// A date, or none.
    case date(LicenseDate)
    /// Edition and days of the free data.
    case edition(LicenseEdition)
    /// A later entry.
    case entry(LicenseLaterEntry)
    /// Yes or no.
    case flag(Bool)
    /// Bytes that are not text, or that are not what such an item holds.
    case bytes([UInt8])

    /// How people read it; bytes in hexadecimal digits, nothing for ``absent``.
    public var words: LocalizedText {
        func both(_ text: String) -> LocalizedText { LocalizedText(text, text) }
        return switch self {
        case .absent: both("")
        case .text(let text): both(text.description)
        case .code(let text): both(text)
        case .date(let date): date.text
        case .edition(let edition): both(edition.version ?? "")
        case .entry(let entry): both(entry.text.description)
        case .flag(let flag): flag ? LocalizedText("yes", "はい") : LocalizedText("no", "いいえ")
        case .bytes(let bytes): both(Hex.encode(bytes))
        }
    }
}
