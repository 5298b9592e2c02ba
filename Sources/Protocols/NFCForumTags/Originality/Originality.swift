// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto
public import CardModel

/// The result of checking the signature by which makers mark their chips.
///
/// The signature is over the UID and the same each time: a copy of both passes. It shows that a maker made a chip with
/// this UID, not that this is the one.
public struct Originality: Hashable, Sendable {
    /// The result; the raw values are those of documents.
    public let state: State
    /// The name of the maker's key; `nil` unless the signature is valid.
    public let key: String?
    /// Why it could not be checked; `nil` if it was.
    public let obstacle: Obstacle?

    /// The results of a check.
    @nonexhaustive
    public enum State: String, Hashable, Sendable {
        /// A maker signed this UID.
        case valid
        /// No known maker signed this UID, though the product is one of those that are signed.
        case wrong
        /// The chip has no signature, or its bytes are all zeros.
        case absent
        /// The chip has a signature, and the key for such a product is not known.
        case unknownProduct
        /// It could not be checked.
        case notChecked
    }

    /// Why a signature could not be checked.
    @nonexhaustive
    public enum Obstacle: String, Hashable, Sendable {
        /// The reader does not pass the command on.
        case reader
        /// The UID is random; the signature is over another one.
        case randomUID
        /// OpenSSL is missing, or was built without the curve.
        case library
    }

    package init(_ state: State, key: String? = nil) {
        (self.state, self.key, obstacle) = (state, key, nil)
    }

    package init(notChecked obstacle: Obstacle) {
        (state, key, self.obstacle) = (.notChecked, nil, obstacle)
    }

    /// Checks a signature.
    ///
    /// - Parameters:
    ///   - signature: r and s, big-endian, in the length of the curve each; empty or `nil` for a chip without one.
    ///   - uid: the bytes that are signed.
    ///   - isKnown: whether the product is one that makers sign with a known key.
    package init(signature: [UInt8]?, uid: [UInt8], isKnown: Bool) {
        guard let signature, signature.contains(where: { $0 != 0 }), !uid.isEmpty else {
            self.init(.absent)
            return
        }
        let keys = OriginalityKey.all.filter { $0.signatureLength == signature.count }
        guard !keys.isEmpty else {
            self.init(.unknownProduct)
            return
        }
        do throws(CryptoError) {
            for key in keys where try key.verifies(signature, of: uid) {
                self.init(.valid, key: key.name)
                return
            }
            // A library that lacks the curve refuses every signature.
            guard let curve = keys.first?.curve, try OriginalityKey.isSupported(curve) else {
                self.init(notChecked: .library)
                return
            }
            self.init(isKnown ? .wrong : .unknownProduct)
        } catch {
            self.init(notChecked: .library)
        }
    }
}

extension Originality {
    /// What the result means, without a full stop.
    public var message: LocalizedText {
        switch state {
        case .valid:
            LocalizedText(
                "valid for this UID (\(key ?? "?")); a clone with a copied UID and signature would also pass",
                "この UID へのメーカーの署名は有効です（\(key ?? "?")）。UID と署名を写した複製も同じ結果になります")
        case .wrong:
            LocalizedText("not signed by a known maker: probably a copy", "既知のメーカーの署名ではありません（複製品の可能性が高いです）")
        case .absent: LocalizedText("this chip has no originality signature", "このチップに署名はありません")
        case .unknownProduct:
            LocalizedText("no public key for this product is known", "この製品の公開鍵は分かっていません")
        case .notChecked:
            switch obstacle {
            case .reader: LocalizedText("this reader does not pass the command on", "リーダーがコマンドを通しません")
            case .randomUID:
                LocalizedText("the UID is random, and the signature is over another one", "UID が毎回変わるため、署名と照合できません")
            case .library, nil:
                LocalizedText(
                    "OpenSSL 3 (libcrypto.so.3) with the curve is needed to check it",
                    "確認には OpenSSL 3（libcrypto.so.3）が必要です")
            }
        }
    }
}

/// A maker's public key; the facts are in `Data/originality-keys.tsv`.
struct OriginalityKey: Hashable, Sendable {
    /// The name that tells the maker and products.
    let name: String
    let curve: PublicKey.Curve
    /// Whether the UID is digested with SHA-256 before it is signed.
    let isDigested: Bool
    private let point: [UInt8]

    /// The length of a signature in bytes: twice that of the curve.
    var signatureLength: Int { point.count - 1 }

    init(_ row: FactRow) throws(FactTableError) {
        name = try row.required("key")
        switch try row.required("curve") {
        case "secp128r1": curve = .secp128r1
        case "secp192r1": curve = .secp192r1
        case "secp224r1": curve = .secp224r1
        default: throw row.fault("curve", .unknownWord)
        }
        isDigested = try row.text("digest") == "SHA256"
        point = try [0x04] + OriginalityKey.coordinate(row, "x") + OriginalityKey.coordinate(row, "y")
    }

    private static func coordinate(_ row: FactRow, _ column: String) throws(FactTableError) -> [UInt8] {
        guard let bytes = try? Hex.decode(try row.required(column)) else { throw row.fault(column, .notANumber) }
        return bytes
    }

    /// Returns whether the owner of the key signed this UID.
    ///
    /// - Throws: ``CryptoError/libraryMissing``.
    func verifies(_ signature: [UInt8], of uid: [UInt8]) throws(CryptoError) -> Bool {
        try PublicKey(curve: curve, point: point).verifies(
            rawECDSA: signature, ofValue: isDigested ? Digest.sha256.hash(uid) : uid)
    }

    static var all: [OriginalityKey] { table.rows }

    /// The errors in the table; a release has none.
    static var faults: [FactTableError] { table.faults }

    private static let table = FactTable(
        PackageResources.originality_keys_tsv, columns: ["key", "curve", "digest", "x", "y"], key: ["key"],
        row: OriginalityKey.init(_:))

    /// Whether the library has a curve, shown by the signature of a real chip.
    static func isSupported(_ curve: PublicKey.Curve) throws(CryptoError) -> Bool {
        let known: (uid: [UInt8], signature: [UInt8])
        switch curve {
        case .secp128r1:
            known = (
                [0x04, 0xE1, 0x0C, 0xDA, 0x99, 0x3C, 0x80],
                [
                    0x8B, 0x76, 0x05, 0x2E, 0xE4, 0x2F, 0x55, 0x67, 0xBE, 0xB5, 0x32, 0x38, 0xB3, 0xE3, 0xF9, 0x95,
                    0x07, 0x07, 0xC0, 0xDC, 0xC9, 0x56, 0xB5, 0xC5, 0xEF, 0xCF, 0xDB, 0x70, 0x9B, 0x2D, 0x82, 0xB3,
                ]
            )
        default: return true
        }
        for key in all where key.curve == curve {
            if try key.verifies(known.signature, of: known.uid) { return true }
        }
        return false
    }
}

extension Originality {
    /// READ_SIG of DESFire and NTAG 424 DNA, in the wrapping of ISO 7816: 56 bytes and status 9190, or 9100.
    package static let isoCommand: [UInt8] = [0x90, 0x3C, 0x00, 0x00, 0x01, 0x00, 0x00]
    /// The length of a signature with secp224r1. A shorter answer is one that a reader has cut.
    package static let isoLength = 56
}
