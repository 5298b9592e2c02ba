// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import SystemPackage

/// Installs the udev rules in the administrator's rules directory, after asking.
struct UdevInstallation {
    private let folder: FilePath

    /// - Parameter root: the root folder of another system's files; empty for this system.
    init(root: String) {
        folder = FilePath(root + UdevRules.folder)
    }

    func run(withoutAsking: Bool, _ context: Context) throws(CommandError) {
        guard access(folder.string, W_OK) == 0 else {
            guard errno == EACCES || errno == EPERM || errno == EROFS else { throw .unwritable(folder.string, errno) }
            throw CommandError(
                .cannotWrite, "cannotWrite", tr("only root may write \(folder)", "\(folder) に書けるのは root だけです"),
                hint: "sudo kazasu doctor --fix")
        }
        for file in UdevRules.files { try check(folder.appending(file.name)) }
        let names = UdevRules.files.map(\.name).joined(separator: ", ")
        if !withoutAsking {
            try Confirmation.ask(
                tr(
                    "Install \(names) in \(folder)? The user at this computer and members of the group plugdev can then open readers.",
                    "\(folder) に \(names) を入れますか？ この端末の利用者と plugdev グループがリーダーを開けるようになります。"))
        }
        for file in UdevRules.files { try install(file) }
        context.note(
            tr(
                "installed \(names) in \(folder); unplug the reader and plug it back in",
                "\(folder) に \(names) を入れました。リーダーを差し直してください"))
    }

    /// Only a regular file is replaced: a link may lead anywhere, and one to `/dev/null` is how an administrator
    /// disables a rule.
    private func check(_ path: FilePath) throws(CommandError) {
        let status: Stat
        do throws(Errno) {
            status = try path.stat(followTargetSymlink: false)
        } catch .noSuchFileOrDirectory {
            return
        } catch {
            throw .unwritable(path.string, error.rawValue)
        }
        guard status.type != .regular else { return }
        let hint = "sudo rm \(ShellWord.quoted(path.string)) && sudo kazasu doctor --fix"
        guard let target = Directory.linkTarget(of: path.string) else {
            throw CommandError(
                .cannotWrite, "notRegular",
                tr("\(path) is not a regular file and was left alone", "\(path) は通常のファイルではないため、そのままにしました"),
                hint: hint)
        }
        guard target == "/dev/null" else {
            throw CommandError(
                .cannotWrite, "notRegular",
                tr(
                    "\(path) is a link to \(target) and was left alone",
                    "\(path) は \(target) へのリンクのため、そのままにしました"), hint: hint)
        }
        throw CommandError(
            .cannotWrite, "masked",
            tr(
                "\(path) is masked: it is a link to /dev/null, which turns this udev rule off",
                "\(path) は無効にされています（/dev/null へのリンクで、管理者がこの udev ルールを止めた状態です）"),
            hint: tr("if the rule should apply again: \(hint)", "このルールを再び有効にするには: \(hint)"))
    }

    /// Installs a new file in the rule's place, readable by everybody as udev's rules are.
    private func install(_ rule: UdevRules.File) throws(CommandError) {
        let path = folder.appending(rule.name)
        do {
            let file = try TemporaryFile(
                in: folder, permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try file.descriptor.writeWhole(Array(rule.text.utf8))
            try file.move(to: path)
        } catch {
            throw CommandError(unwritable: path.string, error)
        }
    }
}
