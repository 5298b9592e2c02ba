// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Kazasu
import KazasuCLI

/// The data specific to a Type 2 Tag for display.
struct Type2View {
    let report: Type2Report
    let redaction: Redaction

    var rows: [[String]] {
        var rows: [[String]] = []
        if let uid = report.memory.uid {
            let check = report.memory.uidCheckIsRight == false ? tr("  (check bytes wrong)", "  （検査バイトが不正）") : ""
            rows.append(["UID", redaction.apply(Hex.encode(uid, uppercase: true)) + check])
        }
        if let version = report.version { rows.append([tr("Version", "バージョン"), Hex.encode(version, uppercase: true)]) }
        if !report.notAsked.isEmpty {
            let names = report.notAsked.joined(separator: ", ")
            rows.append([
                tr("Not checked", "未確認"),
                tr(
                    "\(names): this reader does not pass these commands on, so the product, counters and signature are unknown",
                    "\(names): リーダーがタグに通さないため、製品・カウンター・署名は分かりません"),
            ])
        }
        if let product = report.product, let pages = product.pageCount {
            let user = product.userPages.map {
                tr(
                    ", user pages \(name($0.lowerBound))-\(name($0.upperBound))",
                    "、ユーザーページ \(name($0.lowerBound))-\(name($0.upperBound))")
            }
            rows.append([tr("Pages", "ページ"), "\(pages)" + (user ?? "")])
        }
        if let page = report.memory[3] {
            let label =
                report.memory.capability == nil ? tr("OTP (page 03)", "OTP（ページ 03）") : tr("CC (page 03)", "CC（ページ 03）")
            rows.append([label, Hex.encode(page, uppercase: true)])
        }
        rows.append([tr("Locked pages", "ロック済みページ"), locks])
        if let configuration = report.configuration { rows.append([secretName, words(configuration)]) }
        if let mirror = report.configuration?.mirror { rows.append([tr("Mirror", "ミラー"), words(mirror)]) }
        for (number, count) in report.counters.sorted(by: { $0.key < $1.key }) {
            rows.append([tr("Counter \(number)", "カウンター \(number)"), "\(count)"])
        }
        return rows
    }

    private func name(_ page: UInt16) -> String { Type2Dump.name(of: page) }

    /// The locked pages as ranges; unread ones are reported as such.
    private var locks: String {
        guard report.locks.staticBytes != nil else { return tr("not read", "未読") }
        let unread = report.product?.dynamicLockPage.flatMap { report.memory[$0] == nil ? $0 : nil }
        let rest = unread.map { tr("  (page \(name($0)) not read)", "  （ページ \(name($0)) は未読）") } ?? ""
        return (report.locks.pages.isEmpty ? tr("none", "なし") : Words.ranges(report.locks.pages, name)) + rest
    }

    private var secretName: String {
        report.product?.takesKey == true ? tr("Key", "鍵") : tr("Password", "パスワード")
    }

    private func words(_ configuration: Type2Configuration) -> String {
        let last = report.product?.pageCount.map { $0 - 1 } ?? .max
        guard configuration.firstProtectedPage <= last else { return tr("no pages protected", "保護なし") }
        let from = name(configuration.firstProtectedPage)
        return configuration.protectsReading
            ? tr("needed to read and write from page \(from)", "ページ \(from) 以降の読み書きに必要")
            : tr("needed to write from page \(from)", "ページ \(from) 以降の書き込みに必要")
    }

    private func words(_ mirror: Type2Configuration.Mirror) -> String {
        let content =
            switch mirror.content {
            case .uid: "UID"
            case .counter: tr("counter", "カウンター")
            case .both: tr("UID and counter", "UID とカウンター")
            }
        return tr(
            "\(content) from page \(name(mirror.page)), byte \(mirror.byte)",
            "\(content)（ページ \(name(mirror.page)) のバイト \(mirror.byte) から）")
    }
}
