// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The journal of a Lite-S card's issuance.
typealias LiteJournal = IssueJournal<LiteWork>

/// A Lite-S card's issuance: the card, the profile and a check value of the key.
struct LiteWork: IssueWork {
    static let kind = StepJournal.Kind(
        schema: "kazasu.liteJournal/1", begin: "lite issue", resume: "lite resume", name: "lite")

    let idm: IDm
    let profile: LiteProfile
    /// What was known of the issuance when the journal was opened.
    let interruption: LiteInterruption

    init(_ idm: IDm, _ profile: LiteProfile, _ keyCheck: LiteKeyCheck) {
        (self.idm, self.profile) = (idm, profile)
        interruption = LiteInterruption(keyCheck: keyCheck)
    }

    init(_ first: JSONCursor, steps lines: [JSONCursor]) throws(DocumentError) {
        idm = try first.required("idm").idm()
        profile = try LiteProfile(first.required("profile"))
        let steps = try JSONCursor.steps(lines) { word, _ in LiteStep(rawValue: word) }
        let check = try first.optional("keyCheck").map { json throws(DocumentError) in
            let value = try json.required("value")
            let salt = try json.required("salt").bytes(count: 32)
            guard let check = LiteKeyCheck(salt: salt, value: try value.bytes(count: 8)) else {
                throw value.malformed(.hexDigits, "16")
            }
            return check
        }
        // Without a check value, as in journals of 0.2.0, only the card knows which key it was given.
        let firstOfKey: LiteStep = check == nil ? .key : .keyProved
        interruption = LiteInterruption(
            keyCheck: check, hasProvedKey: steps.contains(.keyProved) || steps.contains(firstOfKey))
    }

    var members: [(String, JSONValue)] {
        let check = interruption.keyCheck.map { check in
            (
                "keyCheck",
                ["salt": .string(check.salt.hexadecimal), "value": .string(check.value.hexadecimal)] as JSONValue
            )
        }
        return [("idm", .string(idm.bytes.hexadecimal)), ("profile", profile.json)] + (check.map { [$0] } ?? [])
    }

    static func members(of step: LiteStep) -> [(String, JSONValue)] { [("step", .string(step.rawValue))] }
}
