// SPDX-License-Identifier: Apache-2.0

extension KnownServiceGroup {
    /// Regional cards with formats of their own. Sources: felica-tool `nodes.json`, TRETJapanNFCReader, felica-look.
    static let regional: [KnownServiceGroup] = [
        .init([0x8B5D], [.init(0x898F, "history", "利用履歴", blocks: 20)]),
        .init(
            [
                0x8157, 0x8287, 0x80EF, 0x832C, 0x83EE, 0x84A1, 0x8B43, 0x8B5D, 0x8B98, 0x8E58, 0x9027, 0x9099,
                0x9506,
            ],
            [
                .init(0x804B, "issue data", "発行情報"),
                .init(0x884B, "balance", "残高"),
                .init(0x898F, "history", "利用履歴"),
                .init(0x8BCB),
                .init(0x924B),
            ]),
        .init([0x83CC], [.init(0x924B)]),
        .init([0x8B43], [.init(0x0FC9), .init(0x0FCA)]),
        .init(
            [0x8194],
            [
                .init(0x000B, "issue data", "発行情報"), .init(0x004B, "attributes and last ride", "属性・最終乗車情報"),
                .init(0x008F, "history", "利用履歴"), .init(0x00CF, "charges", "積増履歴"), .init(0x168B),
                .init(0x16CB), .init(0x170F), .init(0x174F),
            ]),
        .init(
            [0x040F],
            [
                .init(0x020B, "attributes", "属性情報"), .init(0x030F, "history", "利用履歴"), .init(0x090B),
                .init(0x0A0B),
            ]),
        .init(
            [0x04A6],
            [
                .init(0x004B), .init(0x008B), .init(0x00CF), .init(0x010F), .init(0x028B), .init(0x02CB),
                .init(0x078B), .init(0x07CB),
            ]),
        .init([0x8D3F], [.init(0x000B), .init(0x000F, "history", "利用履歴"), .init(0x004B), .init(0x008B)]),
        .init(
            [0x80E0],
            [
                .init(0x000B, "attributes", "属性情報"), .init(0x000F, "history", "利用履歴"),
                .init(0x004B, "commuter pass", "定期券情報"), .init(0x008B),
            ]),
        .init(
            [0x8016, 0x804C],
            [
                .init(0x004B), .init(0x008B), .init(0x00CD), .init(0x02CB), .init(0x030B), .init(0x034D),
                .init(0x188B), .init(0x18CB),
            ]),
        .init(
            [0x93EC],
            [
                .init(0x204B), .init(0x304B), .init(0x408B, "balance", "残高", blocks: 8), .init(0x500B),
                .init(0x700B), .init(0x80CF, "history", "利用履歴", blocks: 20), .init(0xA8CF),
            ]),
        .init(
            [0x8DB6],
            [
                .init(0x004B), .init(0x008B), .init(0x010F), .init(0x014F), .init(0x020B), .init(0x024B),
                .init(0x040B), .init(0x080B),
            ]),
        .init(
            [0x8F18],
            [
                .init(0x104B), .init(0x108F), .init(0x10CB), .init(0x110F), .init(0x114B), .init(0x200B),
                .init(0x300B), .init(0x400B),
            ]),
        .init(
            [0x862C, 0x869B],
            [
                .init(0x100B), .init(0xA00B), .init(0xA00F), .init(0xA04B), .init(0xA04F), .init(0xA08B),
                .init(0xA0CB), .init(0xD34B),
            ]),
    ]
}
