// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// A DESFire for display and for documents.
struct DESFireView {
    let information: DESFireInformation
    /// What was read of the files.
    private let contents: [DESFireFileID: DESFireContents]
    private let redaction: Redaction

    /// Shows what a card told; contents are not masked.
    init(_ information: DESFireInformation, contents: [DESFireFileID: DESFireContents] = [:]) {
        (self.information, self.contents, redaction) = (information, contents, Redaction(isOn: false))
    }

    /// Shows what a dump contains; `nil` if its versions are not those of a DESFire.
    init?(_ memory: DESFireMemory, _ redaction: Redaction) {
        guard let information = DESFireInformation(memory) else { return nil }
        (self.information, contents, self.redaction) = (information, memory.contents, redaction)
    }

    // MARK: Documents

    var members: JSONObject {
        let version = information.version
        return JSONObject([
            ("product", .string(version.product)),
            (
                "version",
                [
                    "hardware": .string(version.hardware.hexadecimal),
                    "software": .string(version.software.hexadecimal),
                ]
            ), ("freeMemory", .optional(information.freeMemory)), ("originality", information.originality.json),
            (
                "picc",
                [
                    "settings": .text(Self.digits(information.card.settings)),
                    "keyType": .text(information.card.keyType?.rawValue),
                    "keyVersion": .optional(information.card.keyVersions.first.map { Int($0) }),
                ]
            ),
            ("applications", .array(information.applications.map { json($0) })),
            (
                "withheld",
                .array(
                    information.withheld.map { part in
                        [
                            "aid": .string(part.application.description), "part": .string(part.part.rawValue),
                            "file": .optional(part.file.map { Int($0) }),
                        ]
                    })
            ),
        ])
    }

    private func json(_ application: DESFireApplication) -> JSONValue {
        [
            "aid": .string(application.id.description), "settings": .text(Self.digits(application.settings)),
            "keyType": .text(application.keyType?.rawValue), "keys": .optional(application.keyCount),
            "keyVersions": .array(application.keyVersions.map { .int(Int($0)) }),
            "name": .text(application.name?.hexadecimal),
            "files": .array(application.files.map { json($0, of: application.id) }),
        ]
    }

    private func json(_ file: DESFireFile, of application: DESFireApplicationID) -> JSONValue {
        var object = JSONObject([
            ("number", .int(Int(file.number))), ("type", .string(file.type.rawValue)),
            ("mode", .string(Self.mode(file.mode))),
            (
                "access",
                [
                    "read": Self.json(file.read), "write": Self.json(file.write),
                    "readWrite": Self.json(file.readWrite),
                    "change": Self.json(file.change),
                ]
            ),
        ])
        switch file.extent {
        case .bytes(let size): object["size"] = .int(size)
        case .value(let lower, let upper, let limited):
            object["lower"] = .int(Int(lower))
            object["upper"] = .int(Int(upper))
            object["limitedCredit"] = .bool(limited)
        case .records(let size, let maximum, let count):
            object["recordSize"] = .int(size)
            object["maxRecords"] = .int(maximum)
            object["records"] = .int(count)
        @unknown default: break
        }
        if let id = DESFireFileID(application, file.number), let found = contents[id] {
            let (name, value) = found.member(redaction)
            // The settings have the number of records under that name.
            object[name == "records" ? "contents" : name] = value
        }
        return .object(object)
    }

    private static func json(_ access: DESFireAccess) -> JSONValue {
        switch access {
        case .key(let number): .int(Int(number))
        case .everybody: "free"
        case .nobody: "never"
        @unknown default: nil
        }
    }

    private static func digits(_ byte: UInt8?) -> String? { byte.map { [$0].hexadecimal.uppercased() } }

    private static func mode(_ mode: DESFireMode) -> String {
        switch mode {
        case .plain: "plain"
        case .mac: "mac"
        case .full: "full"
        @unknown default: "plain"
        }
    }

    // MARK: Text

    /// The card, then each application with its files.
    var rows: [[String]] {
        var rows = [[tr("Card", "カード"), information.version.product]]
        if let free = information.freeMemory {
            rows.append([tr("Free memory", "空きメモリー"), tr(Words.count(free, "byte"), "\(free) バイト")])
        }
        rows.append([tr("Originality", "署名"), information.originality.message[.current]])
        rows.append([tr("Master key", "マスターキー"), Self.keys(information.card, isCard: true)])
        for application in information.applications {
            let name = application.name.map { "  \($0.hexadecimal.uppercased())" } ?? ""
            rows.append([tr("Application", "アプリケーション"), "\(application.id)  \(Self.keys(application))\(name)"])
            for file in application.files {
                rows.append(["  \(application.id):\(file.number)", Self.text(file)])
                guard let id = DESFireFileID(application.id, file.number), let found = contents[id] else { continue }
                let lines = found.text(redaction).split(separator: "\n").map(String.init)
                rows += lines.map { ["    " + tr("Contents", "内容"), $0] }
            }
        }
        for part in information.withheld { rows.append([tr("Withheld", "非公開"), Self.text(part)]) }
        return rows
    }

    private static func keys(_ application: DESFireApplication, isCard: Bool = false) -> String {
        guard let type = application.keyType else { return tr("keys unknown", "鍵は不明") }
        if isCard { return type.title }
        let count = application.keyCount ?? 0
        return tr("\(Words.count(count, "key")) \(type.title)", "\(type.title) の鍵 \(count) 個")
    }

    static func text(_ file: DESFireFile) -> String {
        let extent =
            switch file.extent {
            case .bytes(let size): tr(Words.count(size, "byte"), "\(size) バイト")
            case .value(let lower, let upper, _): tr("\(lower) to \(upper)", "\(lower)～\(upper)")
            case .records(let size, let maximum, let count):
                tr(
                    "\(count) of \(maximum) records of \(Words.count(size, "byte"))",
                    "\(size) バイトのレコード \(count)/\(maximum) 件")
            @unknown default: ""
            }
        let rights = [
            (tr("read", "読む"), file.read), (tr("write", "書く"), file.write), (tr("both", "両方"), file.readWrite),
            (tr("change", "設定変更"), file.change),
        ]
        let words = rights.map { "\($0) \(text($1))" }.joined(separator: ", ")
        return "\(file.type.title[.current]), \(extent), \(mode(file.mode)); \(words)"
    }

    private static func text(_ access: DESFireAccess) -> String {
        switch access {
        case .key(let number): tr("key \(number)", "鍵 \(number)")
        case .everybody: tr("free", "自由")
        case .nobody: tr("never", "不可")
        @unknown default: ""
        }
    }

    private static func text(_ part: DESFireWithheld) -> String {
        let place = part.application == .card ? tr("the card", "カード") : part.application.description
        return switch part.part {
        case .settings: tr("settings of \(place)", "\(place) の設定")
        case .applications: tr("list of applications", "アプリケーションの一覧")
        case .files: tr("list of files of \(place)", "\(place) のファイルの一覧")
        case .fileSettings: tr("settings of \(place):\(part.file ?? 0)", "\(place):\(part.file ?? 0) の設定")
        case .contents: tr("contents of \(place):\(part.file ?? 0)", "\(place):\(part.file ?? 0) の内容")
        @unknown default: place
        }
    }
}

extension DESFireContents {
    /// `data`, `value` or `records` of documents; everything is masked under `--redact`, since it is unknown what is personal.
    func member(_ redaction: Redaction) -> (name: String, value: JSONValue) {
        switch self {
        case .data(let bytes): ("data", .string(redaction.apply(bytes.hexadecimal)))
        case .value(let value): ("value", redaction.isOn ? .string(redaction.apply("0")) : .int(Int(value)))
        case .records(let records): ("records", .array(records.map { .string(redaction.apply($0.hexadecimal)) }))
        @unknown default: ("data", nil)
        }
    }

    /// A line of digits, a number, or a line for each record.
    func text(_ redaction: Redaction) -> String {
        switch self {
        case .data(let bytes): redaction.apply(bytes.hexadecimal.uppercased()) + "\n"
        case .value(let value): redaction.apply("\(value)") + "\n"
        case .records(let records): records.map { redaction.apply($0.hexadecimal.uppercased()) + "\n" }.joined()
        @unknown default: ""
        }
    }
}
