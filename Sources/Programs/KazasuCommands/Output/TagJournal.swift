// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The journal of an NTAG 424 DNA's setup.
typealias TagJournal = IssueJournal<TagWork>

/// An NTAG 424 DNA's setup: the UID, the plan and check values of the keys.
struct TagWork: IssueWork {
    static let kind = StepJournal.Kind(
        schema: "kazasu.tagJournal/1", begin: "tag provision", resume: "tag resume", name: "tag")

    let plan: TagPlan
    /// What the steps so far did.
    let progress: TagProgress
    private let checks: (old: TagKeyCheck, new: TagKeyCheck)

    init(uid: [UInt8], _ plan: TagPlan, old: TagKeys, new: TagKeys) throws(CommandError) {
        self.plan = plan
        do throws(TagError) {
            checks = (try TagKeyCheck(old), try TagKeyCheck(new))
        } catch {
            throw CommandError(error)
        }
        progress = TagProgress(uid: uid, steps: [], old: checks.old, new: checks.new)
    }

    init(_ first: JSONCursor, steps lines: [JSONCursor]) throws(DocumentError) {
        let steps = try JSONCursor.steps(lines) { word, line throws(DocumentError) in
            let number = try line.optional("number").map { json throws(DocumentError) in
                UInt8(try json.integer(in: 0...4))
            }
            return TagStep(name: word, number: number)
        }
        plan = try TagPlan.ofJournal(try first.required("plan"))
        checks = (try Self.check(first.required("old")), try Self.check(first.required("new")))
        progress = TagProgress(
            uid: try first.required("uid").bytes(count: 7), steps: steps, old: checks.old, new: checks.new)
    }

    var members: [(String, JSONValue)] {
        [
            ("uid", .string(progress.uid.hexadecimal)), ("plan", plan.json), ("old", Self.json(checks.old)),
            ("new", Self.json(checks.new)),
        ]
    }

    static func members(of step: TagStep) -> [(String, JSONValue)] {
        [("step", .string(step.name))] + (step.number.map { [("number", JSONValue.int(Int($0)))] } ?? [])
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
}
