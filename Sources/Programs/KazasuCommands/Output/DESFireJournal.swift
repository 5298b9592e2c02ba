// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The journal of a DESFire's setup: the UID, the plan and check values of the keys, then the steps. It contains no key.
final class DESFireJournal {
    let plan: DESFirePlan
    /// What the steps so far did.
    let progress: DESFireProgress
    private let steps: StepJournal

    var path: String { steps.path }

    /// Whether the first line of a journal has the plan of a DESFire.
    static func isJournal(_ bytes: [UInt8]) -> Bool {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard let first = try? JSONValue(parsing: Array(line)),
            let chip = try? JSONCursor(first).optional("plan")?.optional("chip")?.text()
        else { return false }
        return chip == DESFirePlan.chip
    }

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    init(
        creating path: String, uid: [UInt8], _ plan: DESFirePlan, old: DESFireKeys, new: DESFireKeys
    ) throws(CommandError) {
        self.plan = plan
        let checks: (DESFireKeyCheck, DESFireKeyCheck)
        do throws(DESFireError) {
            checks = (try DESFireKeyCheck(old), try DESFireKeyCheck(new))
        } catch {
            throw CommandError(error)
        }
        progress = DESFireProgress(uid: uid, steps: [], old: checks.0, new: checks.1)
        steps = try StepJournal(
            creating: path, TagJournal.kind,
            [
                ("uid", .string(uid.hexadecimal)), ("plan", plan.json), ("old", Self.json(checks.0)),
                ("new", Self.json(checks.1)),
            ])
    }

    /// Opens the journal of a setup that was interrupted.
    init(resuming path: String) throws(CommandError) {
        var known: (plan: DESFirePlan, progress: DESFireProgress)?
        steps = try StepJournal(resuming: path, TagJournal.kind) { first, lines throws(DocumentError) in
            var steps: Set<DESFireStep> = []
            for line in lines { steps.insert(try Self.step(line)) }
            known = (
                try DESFirePlan.ofJournal(try first.required("plan")),
                DESFireProgress(
                    uid: try first.required("uid").bytes(count: 7), steps: steps,
                    old: try Self.check(first.required("old")), new: try Self.check(first.required("new")))
            )
        }
        guard let known else { throw CommandError.bug("a journal without a first line") }
        (plan, progress) = known
    }

    private static func step(_ line: JSONCursor) throws(DocumentError) -> DESFireStep {
        let word = try line.required("step")
        let number = try line.optional("number").map { json throws(DocumentError) in
            UInt8(try json.integer(in: 0...31))
        }
        let application = try line.optional("aid").map { json throws(DocumentError) in
            guard let id = DESFireApplicationID(try json.text()) else { throw json.malformed(.form, "F5A1C0") }
            return id
        }
        guard let step = DESFireStep(name: try word.text(), application: application, number: number) else {
            throw word.malformed(.form, "step")
        }
        return step
    }

    private static func json(_ check: DESFireKeyCheck) -> JSONValue {
        [
            "salt": .string(check.salt.hexadecimal),
            "values": .object(
                JSONObject(
                    check.values.map { ("\($0.key)", JSONValue.string($0.value.hexadecimal)) }.sorted { $0.0 < $1.0 })),
        ]
    }

    private static func check(_ json: JSONCursor) throws(DocumentError) -> DESFireKeyCheck {
        var values: [DESFireKeyID: [UInt8]] = [:]
        let list = try json.required("values")
        for (name, value) in try list.members() {
            guard let key = DESFireKeyID(name) else { throw list.malformed(.object) }
            values[key] = try value.bytes(count: 8)
        }
        guard let check = DESFireKeyCheck(salt: try json.required("salt").bytes(count: 16), values: values) else {
            throw json.malformed(.object)
        }
        return check
    }

    /// Stores a step, and returns when it is on the disk.
    func record(_ step: DESFireStep) throws(CommandError) {
        var members: [(String, JSONValue)] = [("step", .string(step.name))]
        if let application = step.application { members.append(("aid", .string(application.description))) }
        if let number = step.number { members.append(("number", .int(Int(number)))) }
        try steps.record(members)
    }
}
