// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension CardProfile {
    /// FeliCa Lite and Lite-S: three commands and a short Echo, four blocks a read, one a write, errors as bitmaps.
    public static let lite: CardProfile = {
        var profile = CardProfile(commands: [.polling, .readWithoutEncryption, .writeWithoutEncryption, .echo])
        profile.blocksPerRead = 4
        profile.blocksPerWrite = 1
        profile.statusStyle = .bitmap
        profile.echoLimit = 75
        return profile
    }()

    /// What is known of the IC that a PMm names.
    ///
    /// The rows are felica-tool's measurements on real cards (commands, trailing bytes, blocks a command), with
    /// nfcpy's table for the writes of the oldest ICs. An IC without a row behaves as its nearest neighbour: 02–0F as
    /// 01, 10–15 and 17 as 16, 19–1F as 18, all others as 31.
    public init(pmm: PMm) {
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
