// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// The journal of a DESFire's setup.
typealias DESFireJournal = IssueJournal<DESFireWork>

/// A DESFire's setup: the UID, the plan and check values of the keys.
struct DESFireWork: IssueWork {
    static let kind = TagWork.kind

    let plan: DESFirePlan
    /// What the steps so far did.
    let progress: DESFireProgress
    private let checks: (old: DESFireKeyCheck, new: DESFireKeyCheck)

    /// Whether the first line of a journal has the plan of a DESFire.
    static func isJournal(_ bytes: [UInt8]) -> Bool {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard let first = try? JSONValue(parsing: Array(line)),
            let chip = try? JSONCursor(first).optional("plan")?.optional("chip")?.text()
        else { return false }
        return chip == DESFirePlan.chip
    }

    init(uid: [UInt8], _ plan: DESFirePlan, old: DESFireKeys, new: DESFireKeys) throws(CommandError) {
        self.plan = plan
        do throws(DESFireError) {
            checks = (try DESFireKeyCheck(old), try DESFireKeyCheck(new))
        } catch {
            throw CommandError(error)
        }
        progress = DESFireProgress(uid: uid, steps: [], old: checks.old, new: checks.new)
    }

    init(_ first: JSONCursor, steps lines: [JSONCursor]) throws(DocumentError) {
        let steps = try JSONCursor.steps(lines) { word, line throws(DocumentError) in
            let number = try line.optional("number").map { json throws(DocumentError) in
                UInt8(try json.integer(in: 0...31))
            }
            let application = try line.optional("aid").map { json throws(DocumentError) in
                guard let id = DESFireApplicationID(try json.text()) else { throw json.malformed(.form, "F5A1C0") }
                return id
            }
            return DESFireStep(name: word, application: application, number: number)
        }
        plan = try DESFirePlan.ofJournal(try first.required("plan"))
        checks = (try Self.check(first.required("old")), try Self.check(first.required("new")))
        progress = DESFireProgress(
            uid: try first.required("uid").bytes(count: 7), steps: steps, old: checks.old, new: checks.new)
    }

    var members: [(String, JSONValue)] {
        [
            ("uid", .string(progress.uid.hexadecimal)), ("plan", plan.json), ("old", Self.json(checks.old)),
            ("new", Self.json(checks.new)),
        ]
    }

    static func members(of step: DESFireStep) -> [(String, JSONValue)] {
        [("step", .string(step.name))]
            + (step.application.map { [("aid", JSONValue.string($0.description))] } ?? [])
            + (step.number.map { [("number", JSONValue.int(Int($0)))] } ?? [])
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
}
