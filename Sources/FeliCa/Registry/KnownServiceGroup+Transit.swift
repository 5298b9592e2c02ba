// SPDX-License-Identifier: Apache-2.0

extension KnownServiceGroup {
    /// Cards of the Japanese transit format. Sources: metrodroid's lists of real cards, felica-tool `nodes.json`,
    /// suica-viewer (keyed services); numbers of blocks from public dumps of real cards.
    static let transit: [KnownServiceGroup] = [
        .init(
            [0x0003, 0x80DE, 0x8592, 0x865E, 0x802B, 0x8029],
            [
                .init(0x008B, "attributes and balance", "属性情報・残高", blocks: 1),
                .init(0x090F, "history", "利用履歴", blocks: 20),
                .init(0x108F, "gate log", "改札入出場履歴", blocks: 3),
                .init(0x10CB, "stored-fare entry", "SF入場駅情報", blocks: 2),
            ]),
        .init(
            [0x0003],
            [
                // Sources disagree on 184B: tickets with a fee (suica-viewer) or commuter pass (felica-tool).
                .init(0x184B, "tickets with a fee (disputed)", "料金券情報（諸説あり）", blocks: 36),
                .init(0x188B, "mobile capability container", "モバイル機能情報"),
                .init(0x194B, blocks: 16), .init(0x198B, blocks: 3), .init(0x1E8B), .init(0x1ECF), .init(0x1F0B),
                .init(0x204B), .init(0x208B), .init(0x20CB), .init(0x210B), .init(0x214B), .init(0x218B),
                .init(0x234B, blocks: 4), .init(0x238B, blocks: 16), .init(0x23CB, blocks: 4), .init(0x26CB),
                .init(0x278F), .init(0x284F), .init(0x290B),
                .init(0x988B, "manaca points", "manacaポイント"), .init(0x98CF), .init(0x998B),
                .init(0xBE4B, "icsca points", "icscaポイント"),
            ]),
        .init([0x0003], keyedTransit),
        .init([0x8592], [.init(0xAF0B), .init(0xAF4B), .init(0xAF8B), .init(0xAFCB), .init(0xB00B)]),
        .init(
            [0x865E],
            [
                .init(0xBA4B, "SAPICA points", "SAPICAポイント"), .init(0xBA8F), .init(0xBACB), .init(0xBB0B),
                .init(0xBCCB), .init(0xBD0B),
            ]),
        .init([0x802B], [.init(0x324F)]),
        .init([0x8029], [.init(0x0009)]),
        .init([0x927A], [.init(0x028B), .init(0x02CB)]),
        .init([0x86A7], [.init(0x004B, blocks: 5), .init(0x028B, blocks: 5)]),
        .init(
            [0x8FC1],
            [
                .init(0x028F, "history", "利用履歴", blocks: 20),
                .init(0x050F, "gate log", "改札入出場履歴", blocks: 3),
                .init(0x060B, "entry", "入場駅情報", blocks: 2),
            ]),
    ]

    /// Services of system 0003 that need a key: for labels, and to tell cards apart.
    private static let keyedTransit: [KnownService] = [
        .init(0x0048, "issue data", "発行情報"), .init(0x004A, "issue data", "発行情報"),
        .init(0x0088, "attributes and balance", "属性情報・残高"),
        .init(0x00C8), .init(0x00CA), .init(0x00CC), .init(0x00CE), .init(0x00D0), .init(0x00D2), .init(0x00D4),
        .init(0x00D6),
        .init(0x0810, "stored-fare purse", "SFパース"), .init(0x0812, "stored-fare purse", "SFパース"),
        .init(0x0816, "stored-fare purse", "SFパース"),
        .init(0x0850), .init(0x0852), .init(0x0856), .init(0x0890), .init(0x0892), .init(0x0896),
        .init(0x08C8, "last charge", "最終チャージ情報"), .init(0x08CA, "last charge", "最終チャージ情報"),
        .init(0x090A), .init(0x090C, "history", "利用履歴"),
        .init(0x1008, "extension", "拡張情報"), .init(0x100A, "extension", "拡張情報"),
        .init(0x1048, "commuter pass", "定期券情報"), .init(0x104A, "commuter pass", "定期券情報"),
        .init(0x108C, "gate log", "改札入出場履歴"), .init(0x10C8, "stored-fare entry", "SF入場駅情報"),
        .init(0x1108), .init(0x110A), .init(0x1148), .init(0x114A), .init(0x1808), .init(0x180A), .init(0x1848),
        .init(0x18C8), .init(0x18CA), .init(0x1908), .init(0x190A), .init(0x1948), .init(0x1988), .init(0x1A48),
        .init(0x1A4A), .init(0x1A88), .init(0x1A8A), .init(0x1B88), .init(0x1B8A), .init(0x1CC8), .init(0x1CCA),
        .init(0x1D08), .init(0x1D0A), .init(0x1E08), .init(0x1F48), .init(0x1F88), .init(0x1F8A), .init(0x2008),
        .init(0x2048), .init(0x204A), .init(0x2088), .init(0x21C8), .init(0x228A), .init(0x2308), .init(0x230A),
        .init(0x2348), .init(0x2388), .init(0x23C8), .init(0x2448), .init(0x254A), .init(0x2888), .init(0x9608),
        .init(0x960A), .init(0x9748), .init(0x974A), .init(0x9888), .init(0x98CC), .init(0x9908),
    ]
}
