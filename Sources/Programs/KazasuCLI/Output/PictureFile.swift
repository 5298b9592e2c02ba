// SPDX-License-Identifier: Apache-2.0

import Kazasu

extension OutputFile {
    /// A file for a picture of a person: never a terminal or a device.
    convenience init(picture path: String) throws(CommandError) {
        try self.init(path)
        guard isFile else {
            throw CommandError(
                .usage, "usage", tr("a photo goes into a file only", "写真の出力先はファイルだけです"),
                hint: tr("name a file", "ファイル名を指定してください"))
        }
    }

    /// Writes a picture. A file that is there is replaced, which is said.
    ///
    /// - Returns: whether it was written; if not, the command ends with the reason.
    func finish(picture bytes: [UInt8], _ context: Context) -> Bool {
        let isReplaced = isFile && hasContents
        var isWritten = false
        context.attempt { () throws(CommandError) in
            try finish(bytes)
            isWritten = true
        }
        if isWritten, isReplaced { context.note(tr("\(path) was replaced", "\(path) を置き換えました")) }
        return isWritten
    }
}
