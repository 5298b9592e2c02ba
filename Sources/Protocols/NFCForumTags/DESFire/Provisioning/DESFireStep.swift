// SPDX-License-Identifier: Apache-2.0

/// A step of setting up a DESFire, as the journal has it.
@nonexhaustive
public enum DESFireStep: Hashable, Sendable {
    /// An application is about to be made.
    case application(DESFireApplicationID)
    /// A file is about to be made.
    case file(DESFireFileID)
    /// The contents of a file are about to be written.
    case contents(DESFireFileID)
    /// A key is about to be changed.
    case key(DESFireKeyID)
    /// A new key was proved.
    case keyProved(DESFireKeyID)
    /// The settings of an application, or of the card itself, are about to be changed.
    case settings(DESFireApplicationID)
    /// An application is about to be deleted.
    case delete(DESFireApplicationID)
    /// The card is about to be formatted.
    case format
    /// Everything was read back.
    case done

    /// The name in journals and answers.
    package var name: String {
        switch self {
        case .application: "application"
        case .file: "file"
        case .contents: "contents"
        case .key: "key"
        case .keyProved: "keyProved"
        case .settings: "settings"
        case .delete: "delete"
        case .format: "format"
        case .done: "done"
        }
    }

    /// The application; `nil` without one.
    package var application: DESFireApplicationID? {
        switch self {
        case .application(let id), .settings(let id), .delete(let id): id
        case .file(let id), .contents(let id): id.application
        case .key(let id), .keyProved(let id): id.application
        case .format, .done: nil
        }
    }

    /// The number of the key or file; `nil` without one.
    package var number: UInt8? {
        switch self {
        case .file(let id), .contents(let id): id.number
        case .key(let id), .keyProved(let id): id.number
        default: nil
        }
    }

    /// Reads a step of a journal; `nil` for anything else.
    package init?(name: String, application: DESFireApplicationID?, number: UInt8?) {
        let file = application.flatMap { id in number.flatMap { DESFireFileID(id, $0) } }
        let key = application.flatMap { id in number.flatMap { $0 <= 13 ? DESFireKeyID(id, $0) : nil } }
        switch (name, application, number) {
        case ("application", let id?, nil): self = .application(id)
        case ("file", _?, _?):
            guard let file else { return nil }
            self = .file(file)
        case ("contents", _?, _?):
            guard let file else { return nil }
            self = .contents(file)
        case ("key", _?, _?):
            guard let key else { return nil }
            self = .key(key)
        case ("keyProved", _?, _?):
            guard let key else { return nil }
            self = .keyProved(key)
        case ("settings", let id?, nil): self = .settings(id)
        case ("delete", let id?, nil): self = .delete(id)
        case ("format", nil, nil): self = .format
        case ("done", nil, nil): self = .done
        default: return nil
        }
    }
}

/// A step, and whether it was taken.
public struct DESFireStepResult: Hashable, Sendable {
    /// The step.
    public let step: DESFireStep
    /// Whether it was taken now, or the card had its result already.
    public let state: TagStepResult.State
}

/// How far an interrupted run came, by its journal.
public struct DESFireProgress: Hashable, Sendable {
    /// The card's UID, seven bytes.
    public let uid: [UInt8]
    /// The steps that were begun.
    public let steps: Set<DESFireStep>
    /// What the old and the new keys are known by.
    package let old, new: DESFireKeyCheck?

    /// Makes the progress of a journal.
    package init(uid: [UInt8], steps: Set<DESFireStep>, old: DESFireKeyCheck?, new: DESFireKeyCheck?) {
        (self.uid, self.steps, self.old, self.new) = (uid, steps, old, new)
    }

    /// Makes the progress of a run whose steps the program kept itself.
    public init(uid: [UInt8], steps: Set<DESFireStep>) { self.init(uid: uid, steps: steps, old: nil, new: nil) }
}

/// What setting up a DESFire came to.
public struct DESFireProvision: Hashable, Sendable {
    /// The card's UID, seven bytes.
    public let uid: [UInt8]
    /// The steps in their order.
    public internal(set) var steps: [DESFireStepResult] = []
    /// The versions of the keys of the applications in the plan, and of the card's master key.
    public internal(set) var versions: [DESFireKeyID: UInt8] = [:]
    /// The URI that phones read; `nil` without one.
    public internal(set) var url: String?
    /// What cannot be undone.
    public internal(set) var left: [DESFireStep] = []
    /// Whether everything was read back.
    public internal(set) var isVerified = false
}
