// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import NFCForumTags

/// The files of ISO 7816 cards that tell whose card it is.
enum PersonalFiles {
    static func contains(_ application: AID?, _ file: FileIdentifier) -> Bool {
        guard let application else { return false }
        // What its owner wrote on a tag.
        if application == Type4Tag.application { return file != Type4Tag.capabilityFile }
        return LicenseFile.allCases.contains { $0.application == application && $0.id == file && $0.access != .free }
            || MyNumberFile.allCases.contains {
                $0.application.aid == application && $0.id == file && $0.isPersonal
            }
    }
}
