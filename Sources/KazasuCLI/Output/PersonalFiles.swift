// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// The files of ISO 7816 cards that tell whose card it is.
enum PersonalFiles {
    static func contains(_ application: AID?, _ file: FileIdentifier) -> Bool {
        guard let application else { return false }
        return LicenseFile.allCases.contains { $0.application == application && $0.id == file && $0.access != .free }
            || MyNumberFile.allCases.contains {
                $0.application.aid == application && $0.id == file && personal.contains($0)
            }
    }

    /// The certificates of authorities and the kind of token are the same on every card.
    private static let personal: [MyNumberFile] = [.authenticationCertificate, .signatureCertificate, .attributes]
}
