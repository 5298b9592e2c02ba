// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What the check of a card's signature found.
///
/// A valid signature says that the covered data is as the authority signed it. It does not say that the chip is not a copy, nor that the
/// card was not reported lost.
public struct CardSignature: Hashable, Sendable {
    /// The result; only ``State/valid`` is success where a check was asked for.
    @nonexhaustive
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// The signature is right, and a given authority issued the signer's certificate, which is valid and fit for it.
        case valid
        /// The signature does not belong to the data, or to the certificate.
        case wrong
        /// The chip does not say what was typed from the printed document: number, dates, or check number B.
        case otherDocument
        /// The signature is right, and none of the given authorities issued the signer's certificate.
        case unknownAuthority
        /// As valid, but the signer's certificate has expired or is not yet valid.
        case certificateExpired
        /// The signature is right, but the certificates do not permit it; ``CardSignature/why`` says which rule.
        case certificateUnfit
        /// The data or the certificate does not have the layout that it must have.
        case malformed
        /// The card has no signature: children's cards without a photo, for example.
        case absent
        /// It uses an algorithm, a curve or a kind of key that cannot be checked here.
        case unsupported
        /// Something that it covers, or that was typed, could not be read or compared.
        case incomplete
        /// Nobody asked: no authority was given.
        case notChecked
    }

    /// Why certificates do not permit a signature.
    @nonexhaustive
    public enum Unfitness: String, Hashable, Sendable, CaseIterable {
        /// Key usage, an unknown critical extension, name constraints, or an authority that was not valid when it signed (RFC 5280).
        case certificate
        /// The signer or its authority is of another country than the document, or the document's country has no certificates.
        case country
    }

    /// The list of digests that a passport's country signed.
    public struct SignedList: Hashable, Sendable {
        /// The state of the list by itself, whatever was read besides.
        public var state: State
        /// The data groups in it, ascending.
        public var listed: [Int]
        /// The data groups that were read and compared with it, ascending.
        public var compared: [Int]

        /// Those of them that are as they were signed.
        var matching: [Int]

        package init(_ state: State, listed: [Int], compared: [Int], matching: [Int] = []) {
            (self.state, self.listed, self.compared, self.matching) = (state, listed, compared, matching)
        }
    }

    /// The result.
    public var state: State
    /// Why the certificates are unfit; `nil` in every other state.
    public var why: Unfitness?
    /// The common name of the authority that issued the signer's certificate, if it was given.
    public var authority: String?
    /// The items that the signature covers, by their names in documents.
    public var covers: [String]
    /// The items that it does not cover.
    public var notCovered: [String]
    /// What was signed; passports only.
    public var list: SignedList?

    package init(
        _ state: State, why: Unfitness? = nil, by authority: String? = nil, covers: [String], notCovered: [String]
    ) {
        self.state = state
        self.why = why
        self.authority = authority
        self.covers = covers
        self.notCovered = notCovered
    }

    init(_ verdict: Verdict, covers: [String], notCovered: [String]) {
        self.init(verdict.state, why: verdict.why, by: verdict.authority, covers: covers, notCovered: notCovered)
    }

    /// A state with what belongs to it.
    struct Verdict: Hashable {
        var state: State
        var why: Unfitness?
        var authority: String?

        init(_ state: State, why: Unfitness? = nil, by authority: String? = nil) {
            self.state = state
            self.why = why
            self.authority = authority
        }
    }

    /// `signature` of documents.
    package var json: JSONValue {
        var object = JSONObject([("state", .string(state.rawValue))])
        if let why { object["why"] = .string(why.rawValue) }
        object["by"] = .text(authority)
        object["covers"] = .array(covers.map { .string($0) })
        object["notCovered"] = .array(notCovered.map { .string($0) })
        if let list {
            object["list"] = .string(list.state.rawValue)
            object["listed"] = .array(list.listed.map { .int($0) })
            object["compared"] = .array(list.compared.map { .int($0) })
        }
        return .object(object)
    }
}

extension CardSignature.State {
    /// What can bring about a state.
    package enum Cause: Hashable, Sendable, CaseIterable {
        /// The card's bearer, who may have made the chip.
        case bearer
        /// Who issued the card.
        case issuer
        /// Who checks it: what was typed, which authorities were given, which software is installed.
        case checker
        /// Time.
        case time
    }

    /// How a command ends with a state.
    package enum Outcome: Hashable, Sendable, CaseIterable {
        /// Success, asked or not.
        case success
        /// Success only if nobody asked for a check; else a failure.
        case successUnlessAsked
        /// As that, but the failure is that something could not be read.
        case unreadIfAsked
        /// A failure, asked or not.
        case failure
    }

    /// The one table of states: who can cause each, and how it ends. What the bearer can cause is never success when asked.
    package var rule: (causes: Set<Cause>, outcome: Outcome) {
        switch self {
        case .valid: ([.issuer], .success)
        case .wrong: ([.bearer], .failure)
        case .otherDocument: ([.bearer, .checker], .failure)
        case .unknownAuthority: ([.bearer, .checker], .successUnlessAsked)
        case .certificateExpired: ([.issuer, .time], .failure)
        case .certificateUnfit: ([.bearer, .issuer], .failure)
        case .malformed: ([.bearer], .failure)
        case .absent: ([.bearer, .issuer], .successUnlessAsked)
        case .unsupported: ([.bearer, .issuer, .checker], .successUnlessAsked)
        case .incomplete: ([.bearer, .checker], .unreadIfAsked)
        case .notChecked: ([.checker], .successUnlessAsked)
        }
    }

    /// Whether a program may go on.
    ///
    /// - Parameter isAsked: whether somebody wants to know if the document is genuine: an authority was given, or one is built in.
    public func isSuccess(whenAsked isAsked: Bool) -> Bool {
        switch rule.outcome {
        case .success: true
        case .successUnlessAsked, .unreadIfAsked: !isAsked
        case .failure: false
        }
    }
}

extension CardSignature: SelfDescribing {
    /// The result in words.
    public var message: LocalizedText {
        guard state == .certificateUnfit, why == .country else { return state.message }
        return LocalizedText("signed by another country than the document's", "文書の発行国と異なる国の署名")
    }
}

extension CardSignature.State: SelfDescribing {
    /// The result in words.
    public var message: LocalizedText {
        switch self {
        case .valid: LocalizedText("signature valid", "署名は有効")
        case .wrong: LocalizedText("signature wrong", "署名が正しくない")
        case .otherDocument:
            LocalizedText("the chip belongs to another document", "入力した番号・日付と IC の内容が異なる（別の文書）")
        case .unknownAuthority:
            LocalizedText("signature of an unknown authority", "署名の認証局が不明")
        case .certificateExpired:
            LocalizedText("signer's certificate expired or not yet valid", "署名者の証明書が有効期間外")
        case .certificateUnfit:
            LocalizedText("certificates do not permit this signature", "証明書がこの署名を認めていない")
        case .malformed: LocalizedText("signature or signed data malformed", "署名または署名対象の形式が不正")
        case .absent: LocalizedText("no signature on the card", "署名なし")
        case .unsupported:
            LocalizedText("signature cannot be checked: unknown algorithm or key", "署名を検証できない（未対応のアルゴリズムまたは鍵）")
        case .incomplete:
            LocalizedText("signature not checked: not everything was read", "署名は未検証（読めなかった項目がある）")
        case .notChecked: LocalizedText("signature not checked", "署名は未検証")
        }
    }
}
