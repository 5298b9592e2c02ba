// SPDX-License-Identifier: Apache-2.0

extension KnownServiceGroup {
    /// The common area FE00. Sources: felica2money, TRETJapanNFCReader, metrodroid, felica-tool `nodes.json`; numbers
    /// of blocks from public dumps (Edy, FeliCa Pocket) or from what the decoders above read.
    static let commonArea: [KnownServiceGroup] = [
        .init(
            [0xFE00],
            [
                .init(0x110B, "Edy card number", "Edy番号", blocks: 2),
                .init(0x1317, "Edy balance", "Edy残高", blocks: 1),
                .init(0x170F, "Edy history", "Edy利用履歴", blocks: 6),
                .init(0x5597, "nanaco balance", "nanaco残高"),
                .init(0x558B, "nanaco number", "nanaco番号", blocks: 2),
                .init(0x55CB, "nanaco statistics", "nanaco利用統計"),
                .init(0x560B, "nanaco points", "nanacoポイント"),
                .init(0x564F, "nanaco history", "nanaco利用履歴", blocks: 5),
                .init(0x67CB, "WAON status", "WAON状態"),
                .init(0x67CF, "WAON ID", "WAON ID", blocks: 2),
                .init(0x680B, "WAON history", "WAON利用履歴", blocks: 9),
                .init(0x680F),
                .init(0x6817, "WAON balance", "WAON残高"),
                .init(0x684B, "WAON points", "WAONポイント"),
                .init(0x684F, "WAON number", "WAON番号", blocks: 2),
                .init(0x688B), .init(0x688F), .init(0x68CB), .init(0x68CF),
                .init(0x35CB, "QUICPay card data", "QUICPayカード情報"),
                .init(0x360B, "QUICPay profile", "QUICPayプロファイル"),
                .init(0x360F, "QUICPay log", "QUICPay利用記録"),
                .init(0x364F, "QUICPay log", "QUICPay利用記録"),
                .init(0x368F, "QUICPay log", "QUICPay利用記録"),
                .init(0x394B, "FeliCa Pocket capability", "FeliCaポケット機能情報", blocks: 1),
                .init(0x398B, "FeliCa Pocket directory", "FeliCaポケットディレクトリ", blocks: 16),
                .init(0x39C9, "FeliCa Pocket data", "FeliCaポケットデータ", blocks: 6),
                .init(0x50CB, "University Co-op member and points", "大学生協 組合員・ポイント情報", blocks: 6),
                .init(0x50CF, "University Co-op history", "大学生協 利用履歴", blocks: 10),
                .init(0x50D7, "University Co-op balance", "大学生協 残高"),
                .init(0x7B8B, "Rakuten Point ID", "楽天ポイント番号"),
                .init(0x7B8F, "Rakuten Point log", "楽天ポイント利用記録"),
                .init(0x17CB, "ANA", "ANA"),
                .init(0x2F4B, "JAL", "JAL"), .init(0x2FCB, "JAL", "JAL"), .init(0x300F, "JAL", "JAL"),
                .init(0x304B, "JAL", "JAL"),
                .init(0x2C8F, "Yodobashi", "ヨドバシカメラ"), .init(0x2CCB, "Yodobashi", "ヨドバシカメラ"),
                .init(0x2CD7, "Yodobashi", "ヨドバシカメラ"), .init(0x2D09, "Yodobashi", "ヨドバシカメラ"),
                .init(0x2E8B, "KESAKA", "KESAKA"), .init(0x2ECB, "KESAKA", "KESAKA"),
                .init(0x2ECF, "KESAKA", "KESAKA"), .init(0x2ED7, "KESAKA", "KESAKA"),
                .init(0x2F09, "KESAKA", "KESAKA"), .init(0x2F0B, "KESAKA", "KESAKA"),
                .init(0x120F, "FCF campus or employee card log", "FCF学生証・社員証 利用記録"),
                .init(0x1A8B, "FCF campus or employee card", "FCF学生証・社員証"),
                .init(0x2649, "MIWA lock", "美和ロック"), .init(0x3BC9, "MIWA lock", "美和ロック"),
                .init(0x3C09, "MIWA lock", "美和ロック"), .init(0x3C0B, "MIWA lock", "美和ロック"),
                .init(0x4249, "MIWA lock", "美和ロック"), .init(0x4289, "MIWA lock", "美和ロック"),
                .init(0x74CB), .init(0x750B), .init(0x7549), .init(0x7589),
            ])
    ]
}
