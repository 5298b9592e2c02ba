// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The system's message for a failed call.
package enum SystemMessage {
    /// Returns the message of an `errno`, in Kazasu's words where it has some, else in the C library's.
    package static func of(_ error: Int32) -> LocalizedText {
        switch error {
        case ENOENT: LocalizedText("no such file or folder", "ファイルまたはフォルダーがありません")
        case EACCES, EPERM: LocalizedText("permission denied", "権限がありません")
        case EEXIST: LocalizedText("there already is a file of that name", "同じ名前のファイルがあります")
        case EBADF: LocalizedText("it is closed", "閉じられています")
        case EISDIR: LocalizedText("it is a folder", "フォルダーです")
        case ENOTDIR: LocalizedText("part of the path is not a folder", "パスの途中がフォルダーではありません")
        case ENOSPC, EDQUOT: LocalizedText("the disk is full", "ディスクに空きがありません")
        case EROFS: LocalizedText("the file system is read-only", "読み取り専用のファイルシステムです")
        case ENAMETOOLONG: LocalizedText("the name is too long", "名前が長すぎます")
        case ENOEXEC: LocalizedText("not a program; a script begins with #!", "プログラムではありません（スクリプトは #! で始めます）")
        case ETXTBSY: LocalizedText("another program is writing the file", "ほかのプログラムがファイルに書き込み中です")
        case ELOOP: LocalizedText("too many symbolic links", "シンボリックリンクが多すぎます")
        case E2BIG: LocalizedText("too large", "大きすぎます")
        case EIO: LocalizedText("input/output error", "入出力エラー")
        case ENOMEM: LocalizedText("out of memory", "メモリ不足です")
        case EMFILE, ENFILE: LocalizedText("too many open files", "開いているファイルが多すぎます")
        case EAGAIN: LocalizedText("no resources at the moment", "一時的に資源が足りません")
        case EADDRINUSE: LocalizedText("the port is in use", "ポートは使用中です")
        case ECONNREFUSED: LocalizedText("connection refused", "接続が拒否されました")
        case ECONNRESET, EPIPE: LocalizedText("the connection was closed by the other end", "相手が接続を切りました")
        case ETIMEDOUT: LocalizedText("timed out", "タイムアウト")
        case EHOSTUNREACH, ENETUNREACH: LocalizedText("no route to the host", "相手に到達できません")
        default: systemsOwn(error)
        }
    }

    private static func systemsOwn(_ error: Int32) -> LocalizedText {
        let text = unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
        return LocalizedText(text, text)
    }
}
