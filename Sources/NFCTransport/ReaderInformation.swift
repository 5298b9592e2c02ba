// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What is known of an open reader, and what card reading plans with.
public struct ReaderInformation: Hashable, Sendable {
    /// What `--reader` takes to open it again.
    public var id: String
    /// What it calls itself.
    public var name: String
    /// The longest FeliCa answer that it can pass on, in bytes with the LEN byte: 255, or less.
    public var longestFeliCaAnswer: Int
    /// The FeliCa bit rates that it can poll with, in the order in which they are tried.
    public var feliCaBitRates: [FeliCaBitRate]
    /// The kinds of card that it can look for.
    public var technologies: [Technology]
    /// The longest command APDU that it can send, in bytes; 261 is enough for every short one.
    public var longestCommandAPDU: Int
    /// The longest response APDU that it can pass on, in bytes with the status word; 258 is the longest short one.
    public var longestResponseAPDU: Int

    /// What is known of a reader.
    public init(
        id: String, name: String, longestFeliCaAnswer: Int = 255,
        feliCaBitRates: [FeliCaBitRate] = [.kbps212, .kbps424],
        technologies: [Technology] = [.felica], longestCommandAPDU: Int = 261, longestResponseAPDU: Int = 258
    ) {
        self.id = id
        self.name = name
        self.longestFeliCaAnswer = longestFeliCaAnswer
        self.feliCaBitRates = feliCaBitRates
        self.technologies = technologies
        self.longestCommandAPDU = longestCommandAPDU
        self.longestResponseAPDU = longestResponseAPDU
    }

    /// How many blocks one Read Without Encryption may ask for so that the answer (13 bytes and 16 a block) fits.
    public var blocksPerRead: Int { max(1, min(15, (max(13, longestFeliCaAnswer) - 13) / 16)) }
}
