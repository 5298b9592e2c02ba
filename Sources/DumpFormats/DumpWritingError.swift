// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why a dump cannot be written in a format.
@nonexhaustive
public enum DumpWritingError: Error, Hashable, Sendable {
    /// The format holds FeliCa cards only, and this is none.
    case notFeliCa(Technology)
    /// The format needs the card's IDm, which the dump does not know.
    case noIDm
    /// The format needs the card's PMm, which the dump does not know.
    case noPMm
    /// The format keeps one system for each code, and the dump has two with this one.
    case systemTwice(SystemCode)
    /// The format keeps one service for each code, and a system of the dump has two with this one.
    case serviceTwice(SystemCode, ServiceCode)
}
