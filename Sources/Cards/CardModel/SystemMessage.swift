// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The system's message for a failed call.
package enum SystemMessage {
    /// Returns the message of an `errno`, in Kazasu's words where it has some, else in the C library's.
    package static func of(_ error: Int32) -> LocalizedText {
        switch error {
        case ErrorNumber.noEntry: LocalizedText("no such file or folder", "ファイルまたはフォルダーがありません")
        case ErrorNumber.noAccess, ErrorNumber.notPermitted: LocalizedText("permission denied", "権限がありません")
        case ErrorNumber.exists: LocalizedText("there already is a file of that name", "同じ名前のファイルがあります")
        case ErrorNumber.badDescriptor: LocalizedText("it is closed", "閉じられています")
        case ErrorNumber.isFolder: LocalizedText("it is a folder", "フォルダーです")
        case ErrorNumber.notFolder: LocalizedText("part of the path is not a folder", "パスの途中がフォルダーではありません")
        case ErrorNumber.noSpace, ErrorNumber.overQuota: LocalizedText("the disk is full", "ディスクに空きがありません")
        case ErrorNumber.readOnly: LocalizedText("the file system is read-only", "読み取り専用のファイルシステムです")
        case ErrorNumber.nameTooLong: LocalizedText("the name is too long", "名前が長すぎます")
        case ErrorNumber.notExecutable:
            LocalizedText("not a program; a script begins with #!", "プログラムではありません（スクリプトは #! で始めます）")
        case ErrorNumber.textBusy: LocalizedText("another program is writing the file", "ほかのプログラムがファイルに書き込み中です")
        case ErrorNumber.manyLinks: LocalizedText("too many symbolic links", "シンボリックリンクが多すぎます")
        case ErrorNumber.tooBig: LocalizedText("too large", "大きすぎます")
        case ErrorNumber.inputOutput: LocalizedText("input/output error", "入出力エラー")
        case ErrorNumber.noMemory: LocalizedText("out of memory", "メモリー不足です")
        case ErrorNumber.manyFiles, ErrorNumber.manyFilesOfAll: LocalizedText("too many open files", "開いているファイルが多すぎます")
        case ErrorNumber.tryAgain: LocalizedText("no resources at the moment", "一時的に資源が足りません")
        case ErrorNumber.addressInUse: LocalizedText("the port is in use", "ポートは使用中です")
        case ErrorNumber.refused: LocalizedText("connection refused", "接続が拒否されました")
        case ErrorNumber.reset, ErrorNumber.brokenPipe:
            LocalizedText("the connection was closed by the other end", "相手が接続を切りました")
        case ErrorNumber.timedOut: LocalizedText("timed out", "タイムアウト")
        case ErrorNumber.noHost, ErrorNumber.noNetwork: LocalizedText("no route to the host", "相手に到達できません")
        default: systemsOwn(error)
        }
    }

    private static func systemsOwn(_ error: Int32) -> LocalizedText {
        let text = Platform.message(error)
        return LocalizedText(text, text)
    }
}
