// SPDX-License-Identifier: Apache-2.0

/// What a licence can tell; the raw values are the words of `Data/license-items.tsv`.
public enum LicenseItem: String, Hashable, Sendable, CaseIterable {
    /// 仕様書バージョン番号, 交付年月日, 有効期間の末日 of the free data
    case edition
    /// 製造者識別子, 暗号関数識別子
    case makers
    /// 暗証番号(PIN)設定
    case pinSetting
    /// JIS X 0208 制定年番号
    case characterSet
    /// 氏名
    case name
    /// 呼び名（カナ）
    case nameKana
    /// 通称名
    case alias
    /// 統一氏名（カナ）
    case unifiedNameKana
    /// 生年月日
    case birthDate
    /// 住所
    case address
    /// 交付年月日
    case issueDate
    /// 照会番号
    case referenceNumber
    /// 免許証の色区分
    case colorClass
    /// 有効期間の末日
    case expiryDate
    /// 免許の条件
    case conditions
    /// 公安委員会名
    case commission
    /// 免許証の番号, on a My Number card 免許情報記録番号
    case number
    /// 免許の年月日, on a My Number card whether a category is held
    case categories
    /// 本籍
    case registeredDomicile
    /// 外字
    case externalCharacters
    /// 追記の有無; its meaning is not known
    case laterEntriesFlag
    /// 新住所地公安委員会名
    case newCommission
    /// 新氏名
    case newName
    /// 新呼び名（カナ）
    case newNameKana
    /// 新住所
    case newAddress
    /// 新条件
    case newCondition
    /// 条件解除
    case conditionLifted
    /// 備考
    case remarks
    /// 予備
    case spare
    /// 新本籍
    case newRegisteredDomicile
    /// 電子署名
    case signatureValue
    /// シリアル番号
    case signatureSerial
    /// 予約
    case reserved
    /// 発行者名
    case signatureIssuer
    /// 主体者名
    case signatureSubject
    /// 主体者鍵識別子
    case signatureKeyIdentifier
    /// 写真, a JPEG 2000 file
    case photo
    /// 経歴証明記録日
    case historyDate
    /// 運転者区分
    case driverClass
    /// 欠字画像
    case missingCharacterImages
    /// 経歴情報記録番号
    case historyNumber

    /// Whether it tells whose licence it is.
    public var isPersonal: Bool {
        switch self {
        case .edition, .makers, .pinSetting, .characterSet, .issueDate, .colorClass, .expiryDate, .conditions,
            .commission, .categories, .laterEntriesFlag, .newCommission, .newCondition, .conditionLifted, .historyDate,
            .driverClass:
            false
        default: true
        }
    }

    /// The member of `kazasu.license/1` that shows it, or `nil` for what has none of its own.
    public var member: String? {
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
