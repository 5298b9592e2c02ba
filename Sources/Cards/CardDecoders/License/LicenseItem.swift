// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The items of a license; the raw values are the keywords in `Data/license-items.tsv`.
@nonexhaustive
public enum LicenseItem: String, Hashable, Sendable, CaseIterable {
    /// 仕様書バージョン番号, 交付年月日, 有効期間の末日 of the free data.
    case edition
    /// 製造者識別子, 暗号関数識別子.
    case makers
    /// 暗証番号(PIN)設定.
    case pinSetting
    /// JIS X 0208 制定年番号.
    case characterSet
    /// 氏名.
    case name
    /// 呼び名（カナ）.
    case nameKana
    /// 通称名.
    case alias
    /// 統一氏名（カナ）.
    case unifiedNameKana
    /// 生年月日.
    case birthDate
    /// 住所.
    case address
    /// 交付年月日.
    case issueDate
    /// 照会番号.
    case referenceNumber
    /// 免許証の色区分.
    case colorClass
    /// 有効期間の末日.
    case expiryDate
    /// 免許の条件.
    case conditions
    /// 公安委員会名.
    case commission
    /// 免許証の番号; on a My Number card, 免許情報記録番号.
    case number
    /// 免許の年月日; on a My Number card, whether a category is held.
    case categories
    /// 本籍.
    case registeredDomicile
    /// 外字.
    case externalCharacters
    /// 追記の有無; the meaning is unknown.
    case laterEntriesFlag
    /// 新住所地公安委員会名.
    case newCommission
    /// 新氏名.
    case newName
    /// 新呼び名（カナ）.
    case newNameKana
    /// 新住所.
    case newAddress
    /// 新条件.
    case newCondition
    /// 条件解除.
    case conditionLifted
    /// 備考.
    case remarks
    /// 予備.
    case spare
    /// 新本籍.
    case newRegisteredDomicile
    /// 電子署名.
    case signatureValue
    /// シリアル番号.
    case signatureSerial
    /// 予約.
    case reserved
    /// 発行者名.
    case signatureIssuer
    /// 主体者名.
    case signatureSubject
    /// 主体者鍵識別子.
    case signatureKeyIdentifier
    /// 写真, a JPEG 2000 file.
    case photo
    /// 経歴証明記録日.
    case historyDate
    /// 運転者区分.
    case driverClass
    /// 欠字画像.
    case missingCharacterImages
    /// 経歴情報記録番号.
    case historyNumber

    /// Whether it identifies the holder.
    public var isPersonal: Bool {
        switch self {
        case .edition, .makers, .pinSetting, .characterSet, .issueDate, .colorClass, .expiryDate, .conditions,
            .commission, .categories, .laterEntriesFlag, .newCommission, .newCondition, .conditionLifted, .historyDate,
            .driverClass:
            false
        default: true
        }
    }

    /// The member of `kazasu.license/1` that contains it, or `nil` if it has no separate member.
    package var member: String? {
        switch self {
        case .edition: "specificationVersion"
        case .pinSetting: "pinsSet"
        case .newCommission, .newName, .newNameKana, .newAddress, .newCondition, .conditionLifted,
            .newRegisteredDomicile:
            "laterEntries"
        case .signatureValue, .signatureSerial, .signatureIssuer, .signatureSubject, .signatureKeyIdentifier:
            "signature"
        case .laterEntriesFlag, .spare, .reserved, .makers: nil
        default: rawValue
        }
    }
}

/// The encoding of a license item; the raw values are the keywords in `Data/license-items.tsv`.
enum LicenseItemForm: String, Sendable {
    /// The edition, and the days of issue and expiry in decimal digits, four bits each.
    case edition
    /// Two one-byte codes.
    case makers
    /// One byte whose bit 1 is the value.
    case flag
    /// JIS X 0208.
    case jis
    /// JIS X 0201 characters.
    case ascii
    /// JIS X 0201 characters or bytes: no source is certain.
    case sign
    /// The era and six digits.
    case date
    /// A later entry.
    case entry
    /// One byte that says whether a category is held.
    case held
    /// Raw bytes.
    case bytes
}

/// A row of `Data/license-items.tsv`: consecutive tags that hold the same item.
struct LicenseItemRow: Sendable {
    let file: LicenseFile
    /// The first tag.
    let tag: LicenseTag
    /// The number of tags.
    let count: Int
    /// The item they hold.
    let item: LicenseItem
    /// The category of vehicles, if the item is one.
    let category: String?
    /// The encoding.
    let form: LicenseItemForm
    /// The display name.
    let name: LocalizedText

    init(_ row: FactRow) throws(FactTableError) {
        file = try row.requiredWord("file")
        item = try row.requiredWord("item")
        form = try row.requiredWord("form")
        name = try row.requiredName()
        tag = LicenseTag(rawValue: try row.hex("tag"))
        count = Int(UInt8(clamping: try row.decimal("count") ?? 1))
        category = try row.text("category")
    }
}

/// The items of every file of a license: `Data/license-items.tsv`.
struct LicenseItemTable: Sendable {
    let faults: [FactTableError]
    /// The rows in card order.
    let rows: [LicenseItemRow]

    init(_ bytes: [UInt8]) {
        let table = FactTable(
            bytes, columns: ["file", "tag", "count", "item", "category", "form", "english", "japanese"],
            key: ["file", "tag"], row: LicenseItemRow.init(_:))
        rows = table.rows
        faults = table.faults
        var before: [Counted: Int] = [:]
        for row in table.rows {
            let counted = Counted(item: row.item, isOnMyNumberCard: row.file.isOnMyNumberCard)
            for place in 0..<row.count {
                let tag = LicenseTag(rawValue: row.tag.rawValue &+ UInt16(clamping: place))
                entries[Place(file: row.file, tag: tag)] = (row, before[counted, default: 0] + place + 1)
            }
            before[counted, default: 0] += row.count
        }
    }

    private var entries: [Place: (row: LicenseItemRow, number: Int)] = [:]

    private struct Place: Hashable {
        let file: LicenseFile
        let tag: LicenseTag
    }

    private struct Counted: Hashable {
        let item: LicenseItem
        let isOnMyNumberCard: Bool
    }

    /// Returns the item for a tag of a file, and its position among several such items.
    ///
    /// Positions run through the whole card: the external characters are 1 and 2 in one file and 3 to 7 in another.
    func item(_ tag: LicenseTag, in file: LicenseFile) -> (row: LicenseItemRow, number: Int)? {
        entries[Place(file: file, tag: tag)]
    }

    /// Returns the items of a file, each once.
    func items(of file: LicenseFile) -> [LicenseItem] {
        var items: [LicenseItem] = []
        for row in rows where row.file == file && !items.contains(row.item) { items.append(row.item) }
        return items
    }
}
