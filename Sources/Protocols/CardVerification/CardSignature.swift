// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What the check of a card's signature found.
///
/// A valid signature says that the covered data is as the authority signed it. It does not say that the chip is not a copy, nor that the
/// card was not reported lost.
public struct CardSignature: Hashable, Sendable {
    /// The result; only ``State/valid`` is success.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The signature is right, and the signer's certificate comes from a given authority and is in its time.
        case valid
        /// The signature does not belong to the data, or to the certificate.
        case wrong
        /// The signature is right, and none of the given authorities issued the signer's certificate.
        case unknownAuthority
        /// As valid, but the signer's certificate has expired or is not yet valid.
        case certificateExpired
        /// The data or the certificate does not have the layout that it must have.
        case malformed
        /// The card has no signature: children's cards without a photo, for example.
        case absent
        /// The signature is right by the certificate on the card, and no authority was given; or something that it covers was not
        /// read.
        case notChecked
    }

    /// The result.
    public var state: State
    /// The common name of the authority that issued the signer's certificate, if it was given.
    public var authority: String?
    /// The items that the signature covers, by their names in documents.
    public var covers: [String]
    /// The items that it does not cover.
    public var notCovered: [String]

    package init(_ state: State, by authority: String? = nil, covers: [String], notCovered: [String]) {
        self.state = state
        self.authority = authority
        self.covers = covers
        self.notCovered = notCovered
    }

    /// `signature` of documents.
    package var json: JSONValue {
        [
            "state": .string(state.rawValue), "by": .text(authority), "covers": .array(covers.map { .string($0) }),
            "notCovered": .array(notCovered.map { .string($0) }),
        ]
    }
}

extension CardSignature.State: SelfDescribing {
    /// The result in words.
    public var message: LocalizedText {
        switch self {
        case .valid: LocalizedText("signature valid", "署名は正しい")
        case .wrong: LocalizedText("signature wrong", "署名が正しくない")
        case .unknownAuthority:
            LocalizedText("signature of an unknown authority", "署名の認証局が不明")
        case .certificateExpired:
            LocalizedText("signer's certificate expired or not yet valid", "署名者の証明書が有効期間外")
        case .malformed: LocalizedText("signature or signed data malformed", "署名または署名対象の形式が不正")
        case .absent: LocalizedText("no signature on the card", "署名なし")
        case .notChecked: LocalizedText("signature not checked", "署名は未検証")
        }
    }
}
