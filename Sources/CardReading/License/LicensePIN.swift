// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel
internal import ISO7816

/// A PIN of a licence.
public enum LicensePIN: Hashable, Sendable, CaseIterable {
    /// 暗証番号1: opens what is printed on the licence.
    case pin1
    /// 暗証番号2: opens the registered domicile and the photo, together with PIN 1.
    case pin2
    /// The PIN of the licence on a My Number card.
    case myNumberLicense

    /// What a card has in its place when its holder set none: four asterisks.
    static let unset: [UInt8] = [0x2A, 0x2A, 0x2A, 0x2A]

    /// What people call it.
    public var name: LocalizedText {
        switch self {
        case .pin1: LocalizedText("PIN 1", "暗証番号1")
        case .pin2: LocalizedText("PIN 2", "暗証番号2")
        case .myNumberLicense: LocalizedText("The licence's PIN", "マイナ免許証の暗証番号")
        }
    }

    /// Where it is, and that it has four digits: on a licence by its number under the master file, as hmpow's programs
    /// do with real cards.
    func reference(isSet: Bool, root: SelectTarget) -> PINReference {
        let form = isSet ? PINForm.digits(4) : .exactly(LicensePIN.unset)
        return switch self {
        case .pin1: PINReference(name, path: [root], p2: 0x81, form: form)
        case .pin2: PINReference(name, path: [root], p2: 0x82, form: form)
        case .myNumberLicense:
            PINReference(
                name, path: LicenseFile.myNumberLicense.map { [.application($0)] } ?? [], p2: 0x86, form: form)
        }
    }

    /// The file under which a dump tells of it.
    var file: FileIdentifier {
        switch self {
        case .pin1: LicenseDecoder.pin1
        case .pin2: LicenseDecoder.pin2
        case .myNumberLicense: LicenseDecoder.myNumberPIN
        }
    }

    /// The application of that file.
    var application: AID? { self == .myNumberLicense ? LicenseFile.myNumberLicense : nil }
}
