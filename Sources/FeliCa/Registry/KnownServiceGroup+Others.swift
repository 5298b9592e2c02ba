// SPDX-License-Identifier: Apache-2.0

extension KnownServiceGroup {
    /// FeliCa Lite, NDEF, cards from abroad and systems of single services. Sources: nfcpy, metrodroid, mrt-buddy,
    /// felica-tool `nodes.json`.
    static let others: [KnownServiceGroup] = [
        .init(
            [0x88B4, 0x12FC],
            [
                .init(0x0009, "read and write", "読み書き"),
                .init(0x000B, "read only", "読み出し専用"),
            ]),
        .init([0x8008], [.init(0x0117, "balance", "残高"), .init(0x100B)]),
        .init([0x8005], [.init(0x0009), .init(0x0118, "balance", "残高")]),
        .init(
            [0x90B7],
            [
                .init(0x1017, "balance", "残高"), .init(0x200F, "history", "利用履歴"),
                .init(0x300B, "card number", "カード番号"),
            ]),
        .init([0x9373, 0x9450], [.init(0x100B, "card number", "カード番号"), .init(0x10D7, "balance", "残高")]),
        .init(
            [0x90E3],
            [
                .init(0x220F, "history", "利用履歴", blocks: 20), .init(0x250F), .init(0x260B), .init(0x280B),
                .init(0x300F),
            ]),
        .init([0x04C7], [.init(0x010B), .init(0x014B), .init(0x018B)]),
        .init([0x8B61], [.init(0x100B, "holder and dates", "会員情報")]),
        .init(
            [0x8182, 0x8CC1],
            [
                .init(0x100B, "QUICPay ID", "QUICPay ID"), .init(0x104B, "QUICPay holder", "QUICPay会員情報"),
                .init(0x10CB), .init(0x110B, "QUICPay profile", "QUICPayプロファイル"),
                .init(0x120B, "QUICPay profile", "QUICPayプロファイル"),
                .init(0x130B, "QUICPay profile", "QUICPayプロファイル"),
            ]),
        .init([0x0447], [.init(0x020B, "student number", "学籍番号")]),
        .init([0x8102], [.init(0x1009, "MIWA lock", "美和ロック"), .init(0x1109, "MIWA lock", "美和ロック")]),
        .init([0x825E], [.init(0x1009, "MIWA lock", "美和ロック")]),
    ]
}
