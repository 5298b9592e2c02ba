// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// How long commands and answers may be on the way to a card.
public struct APDULimits: Hashable, Sendable {
    /// The longest command APDU in bytes; at least 261 carries every short one.
    public var longestCommand: Int
    /// The longest response APDU in bytes, status word included; at least 258 carries every short one.
    public var longestResponse: Int
    /// Whether Lc and Le may be extended: the card must know it, and reader and driver must let it through.
    public var allowsExtended: Bool

    /// Limits; by default those of short APDUs, which every reader but the ACR122U can pass on.
    public init(longestCommand: Int = 261, longestResponse: Int = 258, allowsExtended: Bool = false) {
        self.longestCommand = longestCommand
        self.longestResponse = longestResponse
        self.allowsExtended = allowsExtended
    }

    /// What a reader can pass on. Extended lengths stay off until ``allowsExtended`` is set: only the card tells
    /// whether it knows them.
    public init(_ information: ReaderInformation) {
        self.init(
            longestCommand: information.longestCommandAPDU, longestResponse: information.longestResponseAPDU)
    }

    /// The most data of one command: what goes beyond is sent in a chain.
    var longestData: Int {
        let room = longestCommand - (allowsExtended ? 9 : 6)
        return max(1, min(room, allowsExtended ? 0xFFFF : 0xFF))
    }

    /// The most bytes that one READ BINARY asks for: a multiple of 16 when it is not all that Le can say.
    public var bytesPerRead: Int {
        let room = max(1, min(longestResponse - 2, allowsExtended ? 0xFFFF : 0x100))
        return room >= 0x100 || room < 16 ? room : room & ~0x0F
    }

    /// The longest Ne whose answer the reader can pass on.
    var longestExpected: Int { max(1, min(longestResponse - 2, allowsExtended ? 0x10000 : 0x100)) }
}
