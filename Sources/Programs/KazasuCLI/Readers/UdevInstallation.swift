// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import SystemPackage

/// Installs the udev rules in the administrator's rules directory, after asking, and applies them.
package struct UdevInstallation {
    private let folder: FilePath
    /// `nil` for the files of another system.
    private let trigger: UdevTrigger?

    /// - Parameter root: the root folder of another system's files; empty for this system.
    package init(root: String) {
        folder = FilePath(root + UdevRules.folder)
        trigger = root.isEmpty ? UdevTrigger() : nil
    }

    package func run(withoutAsking: Bool, _ context: Context) throws(CommandError) {
        guard access(folder.string, W_OK) == 0 else {
            guard errno == EACCES || errno == EPERM || errno == EROFS else { throw .unwritable(folder.string, errno) }
            throw CommandError(.udevNotRoot, values: ["\(folder)"])
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
        if trigger?.run() == true {
            context.note(
                tr(
                    "installed \(names) in \(folder) and applied them to connected readers",
                    "\(folder) に \(names) を入れ、接続中のリーダーに適用しました"))
        } else {
            context.note(
                tr(
                    "installed \(names) in \(folder); unplug the reader and plug it back in",
                    "\(folder) に \(names) を入れました。リーダーを差し直してください"))
        }
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
            throw CommandError(.udevNotRegular, values: ["\(path)", hint])
        }
        guard target == "/dev/null" else {
            throw CommandError(.udevLink, values: ["\(path)", hint, "\(target)"])
        }
        throw CommandError(.udevMasked, values: ["\(path)", hint])
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

/// Lets udev apply the rules to readers that are already connected, as the package's postinst does.
struct UdevTrigger {
    /// Where a running udev listens.
    var control = "/run/udev/control"
    /// udev's program, looked up in PATH.
    package var program = "udevadm"

    /// - Returns: `false` when udev is not running or refused.
    package func run() -> Bool {
        guard access(control, F_OK) == 0 else { return false }
        for arguments in UdevRules.applyingCommands {
            guard succeeds(arguments) else { return false }
        }
        // What was triggered happens later; doctor is to see it.
        return succeeds(["settle", "--timeout=10"])
    }

    private func succeeds(_ arguments: [String]) -> Bool {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Standard output is the command's own.
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        guard posix_spawnp(&child, program, &actions, nil, &words, environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return false }
        }
        return status == 0
    }
}
