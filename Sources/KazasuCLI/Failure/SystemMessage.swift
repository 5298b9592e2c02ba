// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the system says of a failed call, in the language of this run.
enum SystemMessage {
    static func text(_ error: Int32) -> String {
        switch error {
        case ENOENT: tr("there is no such file or folder", "ファイルまたはフォルダーがありません")
        case EACCES, EPERM: tr("you have no permission", "権限がありません")
        case EISDIR: tr("it is a folder", "フォルダーです")
        case ENOTDIR: tr("a part of the path is no folder", "パスの途中がフォルダーではありません")
        case ENOSPC, EDQUOT: tr("the disk is full", "ディスクに空きがありません")
        case EROFS: tr("the file system is read-only", "読み取り専用のファイルシステムです")
        case ENAMETOOLONG: tr("the name is too long", "名前が長すぎます")
        default: String(cString: strerror(error))
        }
    }
}
