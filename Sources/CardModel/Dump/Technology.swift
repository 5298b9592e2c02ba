// SPDX-License-Identifier: Apache-2.0

/// The kind of contactless card; the raw values are those of `kazasu.dump/1`.
public enum Technology: String, Hashable, Sendable, CaseIterable {
    /// FeliCa (JIS X 6319-4, NFC-F).
    case felica
    /// ISO 14443 type A.
    case typeA
    /// ISO 14443 type B.
    case typeB
}
