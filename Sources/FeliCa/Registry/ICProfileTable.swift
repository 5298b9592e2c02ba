// SPDX-License-Identifier: Apache-2.0

extension ICProfile {
    /// Every profile. Sources: the table in felica-tool's README, measured on real cards; for the numbers of blocks of
    /// ICs 08, 09, 0C and 0D and the writes of 00 and 01 nfcpy `tt3_sony.py`; for FeliCa Lite the Nbr and Nbw of
    /// nfcpy's tests.
    public static let all: [ICProfile] = [
        .init(
            [0x00], rom: [0x02], read: 12, write: 8, answered: plain,
            silent: mobile + container + property + modern + [.echo], performance: false),
        .init(
            [0x00], rom: [0x03], read: 8, write: 8, answered: [.requestService, .requestResponse],
            silent: [.searchServiceCode, .requestSystemCode] + mobile + container + property + modern + [.echo],
            performance: false),
        .init(
            [0x01], read: 12, write: 8, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 252, performance: false),
        .init([0x08, 0x09, 0x0C], read: 12, write: 8),
        .init([0x0D], read: 12, write: 10),
        .init(
            [0x0B], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 238, strict: true, performance: true),
        .init(
            [0x20], read: 12, write: 10, answered: plain + [.echo], silent: mobile + container + property + modern,
            echo: 252, strict: true, performance: true),
        .init(
            [0x24], read: 12, write: nil, answered: [.requestService, .requestResponse, .requestSystemCode],
            silent: [.searchServiceCode] + mobile + container + property + modern + [.echo], strict: true,
            performance: true),
        .init(
            [0x31, 0x32, 0x36, 0x38], read: 15, write: 13, answered: plain + modern + [.echo],
            silent: mobile + container + property, echo: 252, performance: true),
        .init(
            [0x3B, 0x44, 0x46], read: 15, write: 13, answered: plain + modern + property + [.echo],
            silent: mobile + container, echo: 252, performance: true),
        .init(
            [0x16], read: 15, write: 13, answered: plain + modern + container + [.echo], silent: mobile + property,
            echo: 252, strict: true, performance: true),
        .init(
            [0x18], read: 15, write: 13, answered: plain + modern + container + mobile + [.echo], silent: property,
            echo: 252, strict: true, performance: true),
        .init([0xF0], read: 4, write: 1, silent: plain),
        .init(
            [0xF1], read: 4, write: 1, answered: [.echo],
            silent: plain + mobile + container + property + modern, echo: 75, performance: true),
    ]

    private static let plain: [CommandCode] = [
        .requestService, .requestResponse, .searchServiceCode, .requestSystemCode,
    ]
    private static let mobile: [CommandCode] = [
        .requestBlockInformation, .requestBlockInformationEx, .requestCodeList, .setParameter, .getAreaInformation,
        .getContainerProperty, .getContainerID,
    ]
    private static let container: [CommandCode] = [.getContainerIssueInformation]
    private static let property: [CommandCode] = [.getNodeProperty, .internalAuthenticateAndRead]
    private static let modern: [CommandCode] = [
        .requestServiceV2, .getSystemStatus, .requestProductInformation, .requestSpecificationVersion, .resetMode,
        .authentication1V2,
    ]
}
