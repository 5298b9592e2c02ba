// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// What is done to a card with a journal: a kind of card's issuance, key change or setup.
protocol IssueWork {
    associatedtype Step

    static var kind: StepJournal.Kind { get }

    /// The members of the journal's first line, without a key.
    var members: [(String, JSONValue)] { get }

    /// Reads the first line of a journal, and those of its steps.
    init(_ first: JSONCursor, steps: [JSONCursor]) throws(DocumentError)

    /// The members of a step's line.
    static func members(of step: Step) -> [(String, JSONValue)]
}

/// The journal of an issuance: what is done, then each step before it is taken. The kinds of cards differ in ``IssueWork``.
final class IssueJournal<Work: IssueWork> {
    static var kind: StepJournal.Kind { Work.kind }

    let work: Work
    private let steps: StepJournal
    private var failure: CommandError?

    var path: String { steps.path }

    /// Makes a journal. Another one is never overwritten, unless no step was taken with it.
    ///
    /// - Parameter path: `nil` for the usual place.
    init(creating path: String?, _ work: Work) throws(CommandError) {
        self.work = work
        let place = if let path { path } else { try StepJournal.usualPath(Work.kind) }
        steps = try StepJournal(creating: place, Work.kind, work.members)
    }

    /// Opens the journal of what was interrupted.
    init(resuming path: String) throws(CommandError) {
        var known: Work?
        steps = try StepJournal(resuming: path, Work.kind) { first, steps throws(DocumentError) in
            known = try Work(first, steps: steps)
        }
        guard let known else { throw CommandError.bug("a journal without a first line") }
        work = known
    }

    /// Stores a step, and returns when it is on the disk.
    func record(_ step: Work.Step) throws(CommandError) { try steps.record(Work.members(of: step)) }

    /// Stores a step for an issuer, which a failure ends; ``going(_:hint:)`` throws it then.
    func take(_ step: Work.Step) throws(KazasuError) {
        do throws(CommandError) {
            try record(step)
        } catch {
            failure = error
            throw .cancelled
        }
    }

    /// Runs what may be interrupted; an error after which it can go on names the command for that.
    func going<Value>(
        _ body: () throws(KazasuError) -> Value, hint: (String) -> String
    ) throws(CommandError) -> Value {
        do throws(KazasuError) {
            return try body()
        } catch {
            throw Work.kind.ended(by: failure ?? CommandError(error), path, hint: hint)
        }
    }
}

extension JSONCursor {
    /// The steps of a journal's lines.
    ///
    /// - Parameter read: makes one of its name and the line; `nil` for one that is unknown.
    static func steps<Step: Hashable>(
        _ lines: [JSONCursor], _ read: (String, JSONCursor) throws(DocumentError) -> Step?
    ) throws(DocumentError) -> Set<Step> {
        var steps: Set<Step> = []
        for line in lines {
            let word = try line.required("step")
            guard let step = try read(try word.text(), line) else { throw word.malformed(.form, "step") }
            steps.insert(step)
        }
        return steps
    }
}
