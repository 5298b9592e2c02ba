// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// The journal of an NTAG 424 DNA's setup: the UID, the plan and check values of the keys, then the steps. It contains no key.
package final class TagJournal {
    package static let kind = StepJournal.Kind(
        schema: "kazasu.tagJournal/1", begin: "tag provision", resume: "tag resume", name: "tag")

    package let plan: TagPlan
    /// What the steps so far did.
    package let progress: TagProgress
    private let steps: StepJournal

    package var path: String { steps.path }

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    package init(
        creating path: String, uid: [UInt8], _ plan: TagPlan, old: TagKeys, new: TagKeys
    ) throws(CommandError) {
        self.plan = plan
        let checks: (TagKeyCheck, TagKeyCheck)
        do throws(TagError) {
            checks = (try TagKeyCheck(old), try TagKeyCheck(new))
        } catch {
            throw CommandError(error)
        }
        progress = TagProgress(uid: uid, steps: [], old: checks.0, new: checks.1)
        steps = try StepJournal(
            creating: path, Self.kind,
            [
                ("uid", .string(uid.hexadecimal)), ("plan", plan.json), ("old", Self.json(checks.0)),
                ("new", Self.json(checks.1)),
            ])
    }

    /// Opens the journal of a setup that was interrupted.
    package init(resuming path: String) throws(CommandError) {
        var known: (plan: TagPlan, progress: TagProgress)?
        steps = try StepJournal(resuming: path, Self.kind) { first, lines throws(DocumentError) in
            var steps: Set<TagStep> = []
            for line in lines {
                let word = try line.required("step")
                let number = try line.optional("number").map { json throws(DocumentError) in
                    UInt8(try json.integer(in: 0...4))
                }
                guard let step = TagStep(name: try word.text(), number: number) else {
                    throw word.malformed(.form, "step")
                }
                steps.insert(step)
            }
            known = (
                try TagPlan.ofJournal(try first.required("plan")),
                TagProgress(
                    uid: try first.required("uid").bytes(count: 7), steps: steps,
                    old: try Self.check(first.required("old")), new: try Self.check(first.required("new")))
            )
        }
        guard let known else { throw CommandError.bug("a journal without a first line") }
        (plan, progress) = known
    }

    private static func json(_ check: TagKeyCheck) -> JSONValue {
        [
            "salt": .string(check.salt.hexadecimal),
            "values": .object(
                JSONObject(
                    check.values.sorted { $0.key < $1.key }.map { ("\($0.key)", .string($0.value.hexadecimal)) })),
        ]
    }

    private static func check(_ json: JSONCursor) throws(DocumentError) -> TagKeyCheck {
        var values: [UInt8: [UInt8]] = [:]
        let list = try json.required("values")
        for (name, value) in try list.members() {
            guard let number = UInt8(name), number <= 4 else { throw list.malformed(.object) }
            values[number] = try value.bytes(count: 8)
        }
        guard let check = TagKeyCheck(salt: try json.required("salt").bytes(count: 16), values: values) else {
            throw json.malformed(.object)
        }
        return check
    }

    /// Stores a step, and returns when it is on the disk.
    package func record(_ step: TagStep) throws(CommandError) {
        let number = step.number.map { [("number", JSONValue.int(Int($0)))] } ?? []
        try steps.record([("step", .string(step.name))] + number)
    }
}
