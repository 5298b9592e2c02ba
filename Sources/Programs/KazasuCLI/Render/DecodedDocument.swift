// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// An identity document of a dump as its own command shows it, without a reader.
///
/// Signatures are checked as far as they can be without certificates of the user. Nothing was typed, so that nothing is compared.
struct DecodedDocument {
    let kind: CardKind
    /// The members of the command's document after `card`.
    let members: JSONObject
    let text: String

    /// - Parameter photoPath: the path that the photo was written to, if it was.
    init(_ document: IdentityReport, _ dump: CardDump, _ redaction: Redaction, photoPath: String?) {
        kind = document.kind
        switch document {
        case .license(let report):
            let view = LicenseView(report: report, redaction: redaction, photoPath: photoPath)
            (members, text) = (view.members, view.text)
        case .myNumber(let report):
            var view = MyNumberView(report: report, redaction: redaction)
            view.pictures = photoPath.map { [(.photo, $0)] } ?? []
            if let authorities = try? CertificateAuthorities(files: []) {
                // The signature of the four items is in no dump.
                if report.face != nil { view.signature = try? report.faceSignature(of: dump, authorities: authorities) }
                for file in report.certificates.keys {
                    view.chains[file] = try? report.chain(of: file, authorities: authorities)
                }
            }
            (members, text) = (view.members, view.text)
        case .residence(let report):
            let signature = try? report.signature(of: dump, authorities: CertificateAuthorities(files: []))
            var view = ResidenceView(
                report: report, signature: signature ?? .withoutLibrary, redaction: redaction)
            view.paths = photoPath.map { [(.photo, $0)] } ?? []
            (members, text) = (view.members, view.text)
        case .passport(var report):
            report.isFromFiles = true
            let view = PassportView(report, dump, redaction, photoPath: photoPath)
            (members, text) = (view.members, view.text)
        }
    }
}

extension PassportView {
    fileprivate init(_ report: PassportReport, _ dump: CardDump, _ redaction: Redaction, photoPath: String?) {
        let authorities = try? CertificateAuthorities(files: [])
        let signature = authorities.flatMap { try? report.signature(of: dump, authorities: $0) } ?? .withoutLibrary
        let chip = authorities.flatMap { try? report.chip(of: dump, signature: signature, authorities: $0) }
        self.init(
            report: report, signature: signature, chip: chip ?? ChipCheck(.notChecked, why: .offline),
            redaction: redaction, path: photoPath)
    }
}

extension CardSignature {
    /// What can be said where libcrypto is missing.
    fileprivate static var withoutLibrary: CardSignature {
        var signature = CardSignature(.notChecked, covers: [], notCovered: [])
        signature.list = SignedList(.notChecked, listed: [], compared: [], matching: [])
        return signature
    }
}
