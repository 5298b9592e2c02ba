// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// An identity document of a dump as its own command shows it, without a reader.
///
/// Signatures are checked as far as they can be without certificates of the user.
struct DecodedDocument {
    let kind: CardKind
    /// The members of the command's document after `card`.
    let members: JSONObject
    let text: String

    /// - Parameter photoPath: the path that the photo was written to, if it was.
    init?(_ report: IdentityReport, _ dump: CardDump, _ redaction: Redaction, photoPath: String?) {
        guard let document = report.document as? any DecodableDocument else { return nil }
        let view = document.view(
            of: dump, redaction, photoPath.map { [WrittenPicture(id: "photo", path: $0)] } ?? [])
        (kind, members, text) = (report.kind, view.members, view.text)
    }
}

extension CardSignature {
    /// What can be said where libcrypto is missing.
    static var withoutLibrary: CardSignature {
        var signature = CardSignature(.notChecked, covers: [], notCovered: [])
        signature.list = SignedList(.notChecked, listed: [], compared: [], matching: [])
        return signature
    }
}
