// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ReaderCore

/// The limits and deviations of a virtual card.
///
/// Kept separate from the card's data, so that the same dump can be served by a card with any deviations.
package struct CardProfile: Hashable, Sendable {
    /// The commands that it answers; all others get no answer.
    package var commands: Set<CommandCode>
    /// The commands that get no answer when bytes follow the last parameter.
    package var strictCommands: Set<CommandCode> = []
    /// The maximum number of blocks for Read Without Encryption, 1 to 15: more do not fit into an answer.
    package var blocksPerRead = 15
    /// The maximum number of blocks for Write Without Encryption, 1 to 13.
    package var blocksPerWrite = 13
    /// The length of a purse's execution ID: the last four bytes of its block, or the last two. Sources differ.
    package var executionIDLength = 4
    /// How status flag 1 identifies a place in a list.
    package var statusStyle = StatusStyle.ordinal
    /// Status flag 2 when more blocks are requested than allowed: A2, on some cards A1.
    package var overLimitStatus: UInt8 = 0xA2
    /// Status flag 2 for a service that needs a key or does not allow writing: A5, on some cards A4.
    package var refusalStatus: UInt8 = 0xA5
    /// The speeds that it supports.
    package var bitRates: [FeliCaBitRate] = [.kbps212, .kbps424]
    /// The request codes of a Polling to which it adds two bytes of data; without 0, which never gets any.
    package var requestCodes: [UInt8] = [1, 2]
    /// Whether Request Service gets no answer when any node has an attribute that FeliCa Standard does not define. (IC
    /// 24; the PIN variants of phones, and codes that are not nodes at all.)
    package var knowsStandardAttributesOnly = false
    /// The maximum number of bytes that Echo returns.
    package var echoLimit = 252
    /// The byte of Request Service v2 that gives the nodes' key types: 4F AES; 41 and 43 AES and DES; 2F and 3F DES.
    package var encryption: UInt8 = 0x4F
    /// The card's response time, in hundredths of the longest time that its PMm allows.
    package var answerTimePercent = 10
    /// Oddities that change single frames.
    var oddities = FeliCaOddities()
    /// Whether a count byte 00 follows the status flags of a refused read.
    package var countsAfterRefusal = false
    /// Whether Request System Code names the first system twice, and 0000.
    package var doublesSystem = false
    /// Whether what is registered before Change System Block outlives the loss of power. Whether real cards keep it, no
    /// source says.
    package var keepsUncommittedNodes = false
    /// Whether it answers no command but Polling.
    package var isMute = false
    /// From this index on, Search Service Code is not answered.
    package var silentSearchIndex: Int?
    /// How long it is deaf after it got power; real cards need up to 20 ms (FeliCa user's manual, 2.4.1).
    package var startupTime = Duration.zero
    /// The product data that it reports.
    package var product = ProductData()

    /// Creates a card without limits other than those of the packet.
    ///
    /// - Parameter commands: the commands that it answers.
    package init(commands: Set<CommandCode> = Set(CommandCode.allCases)) {
        self.commands = commands
    }
}

extension CardProfile {
    /// FeliCa Lite and Lite-S: three commands and a short Echo, four blocks per read, one per write, errors as bitmaps.
    package static let lite: CardProfile = {
        var profile = CardProfile(commands: [.polling, .readWithoutEncryption, .writeWithoutEncryption, .echo])
        profile.blocksPerRead = 4
        profile.blocksPerWrite = 1
        profile.statusStyle = .bitmap
        profile.echoLimit = 75
        return profile
    }()

    /// Creates the known profile of the IC that a PMm names.
    ///
    /// The rows are felica-tool's measurements on real cards (commands, trailing bytes, blocks per command), with
    /// nfcpy's table for the writes of the oldest ICs. An IC without a row behaves as its nearest neighbor: 02–0F as
    /// 01, 10–15 and 17 as 16, 19–1F as 18, all others as 31.
    package init(pmm: PMm) {
        switch (pmm.icType, pmm.romType) {
        case (0xF0, _), (0xF1, _), (0xF2, _): self = .lite
        case (0x00, 0x03): self = .export
        case (0x00, _): self = .first
        case (0x0B, _), (0x20, _): self = .strict(ic: pmm.icType)
        case (0x24, _): self = .octopus
        case (0x01...0x0F, _): self = .second
        case (0x10...0x17, _): self = .wallet
        case (0x18...0x1F, _): self = .mobile
        case (0x3B, _), (0x44, _), (0x46, _): self = .current(extra: [.getNodeProperty])
        default: self = .current(extra: [])
        }
    }

    private static let basic: Set<CommandCode> = [
        .polling, .requestService, .requestResponse, .readWithoutEncryption, .writeWithoutEncryption,
        .searchServiceCode, .requestSystemCode,
    ]

    private static let modern: Set<CommandCode> = basic.union([
        .requestServiceV2, .getSystemStatus, .requestProductInformation, .requestSpecificationVersion, .resetMode,
        .echo,
    ])

    /// IC 00.
    private static var first: CardProfile {
        var profile = CardProfile(commands: basic)
        profile.blocksPerRead = 12
        profile.blocksPerWrite = 8
        profile.requestCodes = [1]
        return profile
    }

    /// IC 00, ROM 03: the export model, which lists neither services nor systems.
    private static var export: CardProfile {
        var profile = first
        profile.commands.subtract([.searchServiceCode, .requestSystemCode])
        return profile
    }

    /// IC 01.
    private static var second: CardProfile {
        var profile = first
        profile.commands.insert(.echo)
        return profile
    }

    /// ICs 0B and 20, which do not answer when some commands are too long.
    private static func strict(ic: UInt8) -> CardProfile {
        var profile = CardProfile(commands: basic.union([.echo]))
        profile.strictCommands = [.polling, .requestService, .searchServiceCode, .requestSystemCode]
        profile.blocksPerRead = 12
        profile.blocksPerWrite = 10
        profile.echoLimit = ic == 0x0B ? 238 : 252
        return profile
    }

    /// IC 24.
    private static var octopus: CardProfile {
        var profile = CardProfile(commands: basic.subtracting([.searchServiceCode]))
        profile.strictCommands = [.polling, .requestService]
        profile.blocksPerRead = 12
        profile.blocksPerWrite = 10
        profile.knowsStandardAttributesOnly = true
        return profile
    }

    /// ICs 31 and up.
    private static func current(extra: Set<CommandCode>) -> CardProfile {
        CardProfile(commands: modern.union(extra))
    }

    /// IC 16.
    private static var wallet: CardProfile {
        var profile = CardProfile(commands: modern.union([.getContainerIssueInformation]))
        profile.strictCommands = [.polling]
        return profile
    }

    /// IC 18.
    private static var mobile: CardProfile {
        var profile = wallet
        profile.strictCommands = []
        profile.commands.formUnion([
            .requestBlockInformation, .requestBlockInformationEx, .requestCodeList, .getAreaInformation,
            .getContainerProperty, .getContainerID,
        ])
        return profile
    }
}

/// A card's data about itself, byte for byte as it follows the status flags. Nothing is invented: a command whose
/// answer is not given here gets no answer.
package struct ProductData: Hashable, Sendable {
    /// Request Product Information: the data after the length byte; at most 242 bytes are answered.
    package var productInformation: [UInt8]?
    /// Request Specification Version: format, basic version, number of options, options.
    package var specificationVersion: [UInt8]?
    /// Get System Status: flag, length, data.
    package var systemStatus: [UInt8]?
    /// Get Container Issue Information: 16 bytes.
    package var containerIssue: [UInt8]?
    /// Get Container ID: the 8 bytes of the container's IDm.
    package var containerID: [UInt8]?
    /// Get Container Property: the data by index.
    package var containerProperties: [UInt16: [UInt8]] = [:]

    package init() {}
}

/// A card's longest response times, from its PMm.
enum ResponseTime {
    /// 256 · 16 / fc.
    private static let unit = Duration.nanoseconds(302_065)

    /// T · ((B + 1) · n + (A + 1)) · 4^E, where A is bits 2–0, B bits 5–3 and E bits 7–6 of the class's byte.
    static func maximum(_ pmm: PMm, byte: Int, units: Int) -> Duration {
        let parameter = Int(UInt8(truncatingIfNeeded: pmm.rawValue >> UInt64(8 * (7 - byte & 7))))
        let (base, perUnit, exponent) = (parameter & 7, parameter >> 3 & 7, parameter >> 6)
        let steps: Int = (perUnit + 1) * min(max(units, 0), 255) + base + 1
        return unit * steps * (1 << (2 * exponent))
    }

    /// The start of the answer to a Polling in time slot `slot`: 512 · 64 / fc and 256 · 64 / fc per slot.
    static func polling(slot: Int) -> Duration {
        .nanoseconds(2_416_519) + .nanoseconds(1_208_260) * slot
    }
}
