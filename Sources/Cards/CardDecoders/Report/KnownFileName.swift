// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension CardDump {
    /// The name of a file of an identity document in this dump; `nil` if it is unknown.
    package func name(of file: FileIdentifier, in application: AID?) -> LocalizedText? {
        // The generations of residence cards use the same numbers for other files.
        let type = self.file(.type).flatMap { ResidenceDecoder.type($0.data) }
        let residence = type.map { [.type, .version] + ResidenceFile.files(of: $0) } ?? []
        if let found = residence.first(where: { $0.application == application && $0.id == file }) { return found.name }
        let license = LicenseFile.allCases.first { $0.application == application && $0.id == file }
        // Other cards have other files in the master file.
        if let license, application != nil || LicenseDecoder.decode(self)?.kind == .license {
            return LocalizedText(license.rawValue, license.rawValue)
        }
        if let found = MyNumberFile.allCases.first(where: { $0.application.aid == application && $0.id == file }) {
            return found.name
        }
        let isPassport = application == PassportFile.application
        if isPassport, let found = PassportFile.allCases.first(where: { $0.id == file }) { return found.name }
        let isAccess = [PassportFile.cardAccess, PassportFile.cardSecurity].contains(file)
        let isGroup = isPassport && (0x0101...0x0110).contains(file.rawValue)
        guard isGroup || application == nil && isAccess else { return nil }
        let name = SavedPassport.name(of: file, isMaster: !isPassport)
        return LocalizedText(name.replacing("_", with: "."), name.replacing("_", with: "."))
    }
}
