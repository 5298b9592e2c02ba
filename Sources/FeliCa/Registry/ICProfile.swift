// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What cards with an IC type were seen to do. A hint for planning, never a reason to refuse a command.
public struct ICProfile: Hashable, Sendable {
    /// The IC types, byte 1 of the PMm.
    public let icTypes: [UInt8]
    /// The ROM types (byte 0 of the PMm) that it is limited to; empty for any.
    public let romTypes: [UInt8]
    /// The most blocks that one Read Without Encryption may ask for.
    public let blocksPerRead: Int?
    /// The most blocks that one Write Without Encryption may carry.
    public let blocksPerWrite: Int?
    /// Commands that are answered.
    public let answered: [CommandCode]
    /// Commands that are met with silence.
    public let silent: [CommandCode]
    /// The most bytes that an Echo may carry; `nil` when Echo is not answered or not measured.
    public let echoLimit: Int?
    /// Whether some commands are met with silence when bytes follow their last field.
    public let isStrictAboutLength: Bool
    /// Whether a Polling with request code 02 is answered; `nil` when not measured.
    public let tellsPerformance: Bool?

    init(
        _ icTypes: [UInt8], rom romTypes: [UInt8] = [], read: Int?, write: Int?, answered: [CommandCode] = [],
        silent: [CommandCode] = [], echo: Int? = nil, strict: Bool = false, performance: Bool? = nil
    ) {
        self.icTypes = icTypes
        self.romTypes = romTypes
        blocksPerRead = read
        blocksPerWrite = write
        self.answered = answered
        self.silent = silent
        echoLimit = echo
        isStrictAboutLength = strict
        tellsPerformance = performance
    }

    /// Whether a command is answered. Read Without Encryption is answered by every FeliCa product.
    public func support(of command: CommandCode) -> CommandSupport {
        if command == .readWithoutEncryption || answered.contains(command) { return .answered }
        return silent.contains(command) ? .silent : .unknown
    }

    /// The profile of cards with this PMm, or `nil` when none was published.
    public static func of(_ pmm: PMm) -> ICProfile? {
        all.first { row in
            row.icTypes.contains(pmm.icType) && (row.romTypes.isEmpty || row.romTypes.contains(pmm.romType))
        }
    }
}
