// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import ReaderDiagnosis

/// The words and numbers that a recording may contain as text. Any other text is not written.
package enum RecordingWords {
    /// What takes the place of a text that is not in a list.
    package static let other = "other"

    /// The members of `system`, in order.
    package static let systemNames = ["distribution", "kernel", "libnfc", "libusb", "pcscd", "libccid"]

    /// The names that distributions have for themselves (`ID` of os-release).
    private static let distributions: Set<String> = [
        "almalinux", "alpine", "arch", "debian", "fedora", "gentoo", "linuxmint", "manjaro", "nixos", "opensuse",
        "opensuse-leap", "opensuse-tumbleweed", "pop", "raspbian", "rhel", "rocky", "ubuntu", "void",
    ]

    /// The models of readers; the file's name begins with one.
    package static let models: Set<String> = [
        "acr122u", "acr1251", "acr1252", "acr1255", "acr1552", "arygon", "identiv", "omnikey", "pcsc", "pn531", "pn532",
        "pn533", "rc-s300", "rc-s310", "rc-s320", "rc-s330", "rc-s380", "scl3711", "virtual", other,
    ]

    /// The IDs of readers without what tells one from another.
    private static let ids: Set<String> = [
        "acr122", "acr122_usb", "acr122s", "arygon", "in-process", "pcsc", "pn532", "pn532_i2c", "pn532_spi",
        "pn532_uart", "pn53x_usb", "rcs300", "rcs310", "rcs320", "rcs380", "replay", "virtual", other,
    ]

    /// The parts of a course.
    package static let sections: Set<String> = Set(ReaderCourse.Part.allCases.map(\.rawValue) + ["doctor"]).union(
        commands)

    /// The commands whose failure is kept; any other is ``other``.
    package static let commands: Set<String> = [
        "apdu", "balance", "classic", "desfire", "dump", "felica", "history", "license", "lite", "mynumber", "passport",
        "poll", "read", "residence", "scan", "standard", "tag", "write", other,
    ]

    /// Why a part ended early.
    package static let reasons: Set<String> = [
        "absent", "answerTooLong", "badAnswer", "bug", "busy", "cancelled", "cardChanged", "cardLost", "cardSilent",
        "cardTooSlow", "frameTooLong", "keyInterrupted", "libraryMissing", "multipleCards", "noAnswer", "noCard",
        "noMessageBlock", "noPACE", "notFormatted", "notRead", "notSelected", "otherCard", "passwordInterrupted",
        "permission", "pinInterrupted", "radioError", "readerFailed", "readerTooSmall", "refused", "timeOver",
        "unexpectedStatus", "unsupported", other,
    ]

    /// What is left out: it identifies a card and cannot be masked, the reader cannot do it, or it would not fit.
    package static let omissions: Set<String> = ["signature", "fieldGap", "beginning", "contents", other]

    /// What drivers call a transfer that failed.
    private static let linkErrors: Set<String> = [
        "LIBUSB_ERROR_IO", "LIBUSB_ERROR_NO_DEVICE", "LIBUSB_ERROR_OVERFLOW", "LIBUSB_ERROR_PIPE",
        "LIBUSB_ERROR_TIMEOUT", other,
    ]

    /// The codes of `kazasu doctor`.
    private static let findings = Set(Check.Code.allCases.map(\.rawValue) + [other])

    static func id(_ text: String) -> String { word(String(text.prefix { $0 != ":" }).lowercased(), ids) }
    static func model(_ text: String) -> String { word(text, models) }
    static func section(_ text: String) -> String { word(text, sections) }
    package static func command(_ text: String) -> String { word(text, commands) }
    static func reason(_ text: String) -> String { word(text, reasons) }
    static func omission(_ text: String) -> String { word(text, omissions) }
    static func linkError(_ text: String) -> String { word(text, linkErrors) }
    static func finding(_ text: String) -> String { word(text, findings) }

    private static func word(_ text: String, _ list: Set<String>) -> String { list.contains(text) ? text : other }

    /// The model of a reader by its ID and its own name.
    package static func model(id: String, name: String) -> String {
        let kind = Self.id(id)
        func named(_ rows: [(part: String, model: String)], else usual: String) -> String {
            rows.first { name.localizedContains($0.part) }?.model ?? usual
        }
        switch kind {
        case "rcs380": return "rc-s380"
        case "rcs300": return "rc-s300"
        case "rcs320": return "rc-s320"
        case "rcs310": return "rc-s310"
        case "acr122", "acr122_usb", "acr122s": return "acr122u"
        case "pn532", "pn532_i2c", "pn532_spi", "pn532_uart": return "pn532"
        case "pn53x_usb":
            return named(
                [("SCL3711", "scl3711"), ("RC-S3", "rc-s330"), ("PN531", "pn531")], else: "pn533")
        case "pcsc":
            let all = id + name
            let rows = [
                ("ACR1251", "acr1251"), ("ACR1252", "acr1252"), ("ACR1255", "acr1255"), ("ACR1552", "acr1552"),
                ("ACR122", "acr122u"), ("RC-S300", "rc-s300"), ("RC-S660", "rc-s300"), ("OMNIKEY", "omnikey"),
                ("Identiv", "identiv"),
            ]
            return rows.first { all.localizedContains($0.0) }?.1 ?? kind
        case "in-process", "virtual", "replay": return models.contains(name) ? name : "virtual"
        default: return models.contains(kind) ? kind : other
        }
    }

    /// A version: up to three numbers of at most four digits, the first of at most two. `nil` for anything else, such as an
    /// address.
    static func version(_ text: String?) -> String? {
        guard let text else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { (1...4).contains($0.utf8.count) && $0.utf8.allSatisfy(isDigit) }
        return isNumber && parts.count <= 3 && parts[0].utf8.count <= 2 ? text : nil
    }

    /// The version at the beginning of a text, as in `6.1.0-18-amd64`.
    package static func leadingVersion(_ text: String) -> String? {
        let digits = text.utf8.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
        let parts = String(decoding: digits, as: UTF8.self).split(separator: ".")
        return version(parts.prefix(3).joined(separator: "."))
    }

    /// A distribution's name and its version, as `debian 12`.
    static func distribution(_ text: String?) -> String? {
        guard let text else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
        guard let name = words.first, distributions.contains(name) else { return other }
        guard words.count == 2, let number = version(words[1]) else { return name }
        return "\(name) \(number)"
    }

    /// The program, as `kazasu 0.3.0`.
    static func tool(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0] == "kazasu", version(String(words[1])) != nil else { return "kazasu" }
        return text
    }

    /// A day as `2026-11-28`.
    static func day(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let isDay =
            bytes.count == 10
            && bytes.enumerated().allSatisfy { $0 == 4 || $0 == 7 ? $1 == UInt8(ascii: "-") : isDigit($1) }
        return isDay ? text : "0000-00-00"
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension String {
    /// Whether the text occurs in it, whatever the case of ASCII letters.
    fileprivate func localizedContains(_ text: String) -> Bool {
        lowercased().contains(text.lowercased())
    }
}
