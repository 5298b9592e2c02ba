// SPDX-License-Identifier: Apache-2.0

/// A step of setting up an NTAG 424 DNA, as the journal has it.
@nonexhaustive
public enum TagStep: Hashable, Sendable {
    /// The settings of file 2 are about to let key 0 write its contents.
    case opening
    /// The contents of a file are about to be written.
    case contents(file: UInt8)
    /// A key is about to be changed.
    case key(UInt8)
    /// A new key was proved.
    case keyProved(UInt8)
    /// The settings of a file are about to be changed.
    case settings(file: UInt8)
    /// The settings of a file are about to be changed forever.
    case freeze(file: UInt8)
    /// The tag is about to be switched to LRP forever.
    case lrp
    /// The tag is about to show a random UID forever.
    case randomUID
    /// Everything was read back.
    case done

    /// The name in journals and answers.
    package var name: String {
        switch self {
        case .opening: "opening"
        case .contents: "contents"
        case .key: "key"
        case .keyProved: "keyProved"
        case .settings: "settings"
        case .freeze: "freeze"
        case .lrp: "lrp"
        case .randomUID: "randomUID"
        case .done: "done"
        }
    }

    /// The number of the key or file; `nil` without one.
    package var number: UInt8? {
        switch self {
        case .contents(let number), .key(let number), .keyProved(let number), .settings(let number),
            .freeze(let number):
            number
        default: nil
        }
    }

    /// Reads a step of a journal; `nil` for anything else.
    package init?(name: String, number: UInt8?) {
        switch (name, number) {
        case ("opening", nil): self = .opening
        case ("contents", let number?): self = .contents(file: number)
        case ("key", let number?): self = .key(number)
        case ("keyProved", let number?): self = .keyProved(number)
        case ("settings", let number?): self = .settings(file: number)
        case ("freeze", let number?): self = .freeze(file: number)
        case ("lrp", nil): self = .lrp
        case ("randomUID", nil): self = .randomUID
        case ("done", nil): self = .done
        default: return nil
        }
    }
}

/// A step, and whether it was taken.
public struct TagStepResult: Hashable, Sendable {
    /// What became of a step.
    @nonexhaustive
    public enum State: String, Hashable, Sendable {
        case done, already, planned
    }

    /// The step.
    public let step: TagStep
    /// Whether it was taken now, or the tag had its result already.
    public let state: State
}

/// How far an interrupted run came, by its journal.
public struct TagProgress: Hashable, Sendable {
    /// The tag's UID, seven bytes.
    public let uid: [UInt8]
    /// The steps that were begun.
    public let steps: Set<TagStep>
    /// What the old and the new keys are known by.
    package let old, new: TagKeyCheck?

    /// Makes the progress of a journal.
    package init(uid: [UInt8], steps: Set<TagStep>, old: TagKeyCheck?, new: TagKeyCheck?) {
        (self.uid, self.steps, self.old, self.new) = (uid, steps, old, new)
    }

    /// Makes the progress of a run whose steps the program kept itself.
    public init(uid: [UInt8], steps: Set<TagStep>) { self.init(uid: uid, steps: steps, old: nil, new: nil) }
}

/// What setting up an NTAG 424 DNA came to.
public struct TagProvision: Hashable, Sendable {
    /// The tag's UID, seven bytes.
    public let uid: [UInt8]
    /// The steps in their order.
    public internal(set) var steps: [TagStepResult] = []
    /// The versions of the keys, by number.
    public internal(set) var versions: [UInt8: UInt8] = [:]
    /// The last URL that the tag made; `nil` if it makes none.
    public internal(set) var url: String?
    /// What cannot be undone: the switch to LRP, the random UID, and settings that are permanent (``TagStep/freeze(file:)``).
    public internal(set) var left: [TagStep] = []
    /// Whether everything was read back.
    public internal(set) var isVerified = false
}
