// SPDX-License-Identifier: Apache-2.0

/// What a virtual field counted.
public struct FieldStatistics: Hashable, Sendable {
    /// How many frames were sent.
    public private(set) var exchanges = 0
    /// How many frames had each command code; frames of fewer than two bytes are not here.
    public private(set) var byCommand: [UInt8: Int] = [:]
    /// How many command APDUs came to a card whole; those of one that was away are not here.
    public private(set) var apdus = 0
    /// How many command APDUs had each instruction byte.
    public private(set) var byInstruction: [UInt8: Int] = [:]
    /// How many got an answer.
    public private(set) var answered = 0
    /// How many met silence.
    public private(set) var unanswered = 0
    /// How many got something damaged.
    public private(set) var damaged = 0

    /// Nothing yet.
    public init() {}

    /// How many frames had this command code.
    public func count(of command: UInt8?) -> Int {
        command.flatMap { byCommand[$0] } ?? 0
    }

    /// How many command APDUs had this instruction byte.
    public func apdus(of instruction: UInt8?) -> Int {
        instruction.flatMap { byInstruction[$0] } ?? 0
    }

    mutating func begin(_ command: UInt8?) {
        exchanges += 1
        if let command { byCommand[command, default: 0] += 1 }
    }

    mutating func beginAPDU(_ instruction: UInt8?) {
        apdus += 1
        if let instruction { byInstruction[instruction, default: 0] += 1 }
    }

    mutating func end(_ outcome: FieldOutcome) {
        switch outcome {
        case .answer: answered += 1
        case .silence: unanswered += 1
        case .damaged: damaged += 1
        }
    }
}
