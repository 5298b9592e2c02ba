// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderDiagnosis

/// Puts the udev rules where an administrator's rules lie, after asking.
struct UdevInstallation {
    private let folder: String

    /// - Parameter root: the folder of another system's files; nothing for this one's.
    init(root: String) {
        folder = root + UdevRules.folder
    }

    func run(withoutAsking: Bool, _ context: Context) throws(Failure) {
        guard access(folder, W_OK) == 0 else {
            guard errno == EACCES || errno == EPERM || errno == EROFS else { throw .unwritable(folder, errno) }
            throw Failure(
                .cannotWrite, "cannotWrite", tr("only root may write \(folder)", "\(folder) に書けるのは root だけです"),
                hint: "sudo kazasu doctor --fix")
        }
        let names = UdevRules.files.map(\.name).joined(separator: ", ")
        if !withoutAsking {
            try Confirmation.ask(
                tr(
                    "Install \(names) in \(folder)? Whoever sits here and the group plugdev may then open readers.",
                    "\(folder) に \(names) を入れますか？ この端末の利用者と plugdev グループがリーダーを開けるようになります。"))
        }
        for file in UdevRules.files {
            let path = "\(folder)/\(file.name)"
            try OutputFile(path).finish(file.text)
            // Written for nobody's eyes but the owner's; udev's rules are for everybody's.
            chmod(path, 0o644)
        }
        context.note(
            tr(
                "installed \(names) in \(folder); plug the reader out and in",
                "\(folder) に \(names) を入れました。リーダーを差し直してください"))
    }
}
