// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NDEF

extension TagReport {
    /// The tag as fields of a card's report: what kind it is, and its message record by record.
    var fields: [CardField] { (type2?.fields ?? []) + (type4?.fields ?? []) + messageFields }

    private var messageFields: [CardField] {
        switch ndef {
        case .none where type == 3: return []
        case .none(let reason):
            return [
                CardField(
                    key: "message", name: LocalizedText("NDEF message", "NDEFメッセージ"), value: reason,
                    label: LocalizedText("none (\(reason))", "なし (\(reason))"), isPersonal: false)
            ]
        case .message(let bytes, let capacity, let isWritable):
            // The attributes of a Type 3 Tag say as much in their own fields.
            var fields: [CardField] =
                type == 3
                ? []
                : [
                    .number("capacity", "Room for the message, bytes", "メッセージの容量 (バイト)", capacity),
                    .flag("writable", "Writable", "書き込み可", isWritable),
                ]
            guard !bytes.isEmpty else { return fields }
            do throws(NDEFError) {
                let message = try NDEFMessage(decoding: bytes, allowingTrailingBytes: true)
                for (place, record) in message.records.enumerated() {
                    fields.append(
                        CardField(
                            key: "record\(place + 1)",
                            name: LocalizedText("Record \(place + 1)", "レコード \(place + 1)"), value: record.summary,
                            isPersonal: true))
                }
            } catch {
                fields.append(
                    CardField(
                        key: "message", name: LocalizedText("NDEF message", "NDEFメッセージ"),
                        value: error.reason.rawValue, label: error.reason.message, isPersonal: false))
            }
            return fields
        }
    }
}

extension Type2Report {
    fileprivate var fields: [CardField] {
        func field(_ key: String, _ english: String, _ japanese: String, _ value: String) -> CardField {
            CardField(key: key, name: LocalizedText(english, japanese), value: value, isPersonal: false)
        }
        var fields: [CardField] = []
        if let uid = memory.uid {
            fields.append(
                CardField(
                    key: "uid", name: LocalizedText("UID", "UID"), value: Hex.encode(uid, uppercase: true),
                    isPersonal: true))
        }
        if let product { fields.append(field("product", "Product", "製品", product.name)) }
        if let page = memory[3] {
            fields.append(field("page3", "Page 03 (CC or OTP)", "ページ03 (CCまたはOTP)", Hex.encode(page, uppercase: true)))
        }
        if locks.staticBytes != nil {
            let pages = locks.pages.map { Type2Dump.name(of: $0) }.joined(separator: " ")
            fields.append(field("lockedPages", "Locked pages", "ロック済みページ", pages.isEmpty ? "-" : pages))
        }
        for (number, count) in counters.sorted(by: { $0.key < $1.key }) {
            fields.append(.number("counter\(number)", "Counter \(number)", "カウンター \(number)", count))
        }
        fields.append(.flag("signature", "Has a signature (not verified)", "署名あり (未検証)", signature != nil))
        return fields
    }
}

extension Type4Capability {
    fileprivate var fields: [CardField] {
        [
            CardField(
                key: "version", name: LocalizedText("Version", "バージョン"), value: "\(majorVersion).\(minorVersion)",
                isPersonal: false),
            .number("mle", "Most bytes in a read (MLe)", "最大読み取りバイト数 (MLe)", longestRead),
            .number("mlc", "Most bytes in a write (MLc)", "最大書き込みバイト数 (MLc)", longestWrite),
        ]
    }
}
