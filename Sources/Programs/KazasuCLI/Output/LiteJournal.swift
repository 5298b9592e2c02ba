// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// The journal of a Lite-S card's issuance: the card, the profile and a check value of the key, then the steps.
package final class LiteJournal {
    package static let kind = StepJournal.Kind(
        schema: "kazasu.liteJournal/1", begin: "lite issue", resume: "lite resume", name: "lite")

    package let idm: IDm
    package let profile: LiteProfile
    /// What was known of the issuance when the journal was opened.
    package let interruption: LiteInterruption
    private let steps: StepJournal

    package var path: String { steps.path }

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    package init(
        creating path: String, _ idm: IDm, _ profile: LiteProfile, _ keyCheck: LiteKeyCheck
    ) throws(CommandError) {
        (self.idm, self.profile) = (idm, profile)
        interruption = LiteInterruption(keyCheck: keyCheck)
        steps = try StepJournal(
            creating: path, Self.kind,
            [
                ("idm", .string(idm.bytes.hexadecimal)), ("profile", profile.json),
                (
                    "keyCheck",
                    [
                        "salt": .string(keyCheck.salt.hexadecimal), "value": .string(keyCheck.value.hexadecimal),
                    ]
                ),
            ])
    }

    /// Opens the journal of an issuance that was interrupted.
    package init(resuming path: String) throws(CommandError) {
        var known: (idm: IDm, profile: LiteProfile, interruption: LiteInterruption)?
        steps = try StepJournal(resuming: path, Self.kind) { first, lines throws(DocumentError) in
            let idm = try first.required("idm").idm()
            let profile = try LiteProfile(first.required("profile"))
            var steps: Set<LiteStep> = []
            for line in lines {
                let word = try line.required("step")
                guard let step = LiteStep(rawValue: try word.text()) else {
                    throw word.malformed(.oneOf, values: LiteStep.allCases.map(\.rawValue))
                }
                steps.insert(step)
            }
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
            known = (
                idm, profile,
                LiteInterruption(
                    keyCheck: check, hasProvedKey: steps.contains(.keyProved) || steps.contains(firstOfKey))
            )
        }
        guard let known else { throw CommandError.bug("a journal without a first line") }
        (idm, profile, interruption) = known
    }

    /// The usual place of a new journal; its folder is made.
    package static func usualPath() throws(CommandError) -> String { try StepJournal.usualPath(kind) }

    /// Stores a step, and returns when it is on the disk.
    package func record(_ step: LiteStep) throws(CommandError) { try steps.record([("step", .string(step.rawValue))]) }
}
