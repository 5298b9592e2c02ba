// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The model of a phone, as it answers Get Container Issue Information.
public struct PhoneModel: Hashable, Sendable {
    /// The marketing name; `nil` if it is unknown.
    public let name: String?
    /// What the phone answered: the ASCII text, or a hex dump of the eleven bytes if not printable; `nil` if they are all 00.
    public let code: String?

    /// Looks up the answer of a phone.
    package init(_ information: ContainerIssueInformation) {
        let bytes = information.model
        let text = bytes.prefix(bytes.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0)
        let code: String? =
            if text.isEmpty {
                nil
            } else if text.allSatisfy({ (0x21...0x7E).contains($0) }) {
                String(decoding: text, as: UTF8.self)
            } else {
                Hex.encode(bytes, uppercase: true)
            }
        let carrier = Hex.encode(information.formatVersionCarrier.suffix(3), uppercase: true)
        self.code = code
        name = Registry.phones.rows.first { $0.carrier == carrier && $0.model == code }?.name
    }

    /// Whether a FeliCa chip with this PMm is a phone's, whose systems may have unrelated IDms (ICs 10 to 1F).
    package static func isPhone(_ pmm: PMm) -> Bool { (0x10...0x1F).contains(pmm.icType) }
}

/// A phone whose name is known; the facts are rows of `Data/phones.tsv`.
struct KnownPhone: Hashable, Sendable {
    /// The last three bytes of format version and carrier, in hexadecimal.
    let carrier: String
    /// The model, as the phone answers it.
    let model: String
    let name: String

    init(_ row: FactRow) throws(FactTableError) {
        carrier = try row.required("carrier")
        model = try row.required("model")
        name = try row.required("name")
        guard carrier.count == 6, carrier.allSatisfy({ $0.isHexDigit }) else { throw row.fault("carrier", .notANumber) }
    }
}
