// SPDX-License-Identifier: Apache-2.0

package import CardModel
import NFCTransport

extension TransportError.Reason {
    /// The sentence for display, without a full stop. Values are shown unchanged.
    package var text: LocalizedText {
        let text = code.text(values.first ?? "", values.dropFirst().first ?? "", values.dropFirst(2).first ?? "")
        guard let reader else { return text }
        return LocalizedText("\(reader): \(text.english)", "\(reader): \(text.japanese)")
    }
}

extension TransportError.Reason.Code {
    fileprivate func text(_ first: String, _ second: String, _ third: String) -> LocalizedText {
        switch self {
        case .text: LocalizedText(first, first)
        case .closed: LocalizedText("the reader was closed", "リーダーは閉じられています")
        case .unplugged: LocalizedText("the reader was unplugged", "リーダーが抜かれました")
        case .noneConnected: LocalizedText("no reader is connected", "リーダーが接続されていません")
        case .notConnected: LocalizedText("no \(product(first)) is connected", "\(product(first)) が接続されていません")
        case .silent: LocalizedText("no reader answers at \(first)", "\(first) にリーダーが応答しません")
        case .notAPaSoRi: LocalizedText("it does not answer like a PaSoRi", "PaSoRi としての応答がありません")
        case .doesNotStart:
            LocalizedText(
                "the \(first) does not start; unplug it and plug it back in", "\(first) が起動しません。いったん抜いて差し直してください")
        case .libnfcFindsNone: LocalizedText("libnfc finds no reader at \(first)", "libnfc は \(first) にリーダーを見つけられません")
        case .libnfcOpensNone: LocalizedText("libnfc cannot open \(first)", "libnfc は \(first) を開けません")
        case .deviceForGroup:
            LocalizedText(
                "only members of the group \(second) may open \(first)", "\(first) を開けるのはグループ \(second) のメンバーだけです")
        case .deviceDenied: LocalizedText("no permission to open \(first)", "\(first) を開く権限がありません")
        case .deviceInUse: LocalizedText("another program uses \(first)", "\(first) は他のプログラムが使用中です")
        case .deviceAbsent: LocalizedText("\(first) does not exist", "\(first) がありません")
        case .noDevice: LocalizedText("no device at \(first) (error \(second))", "\(first) に装置がありません（エラー \(second)）")
        case .deviceNotOpened: LocalizedText("cannot open \(first) (error \(second))", "\(first) を開けません（エラー \(second)）")
        case .notADevice: LocalizedText("\(first) is not a device", "\(first) は装置ではありません")
        case .heldByProgram: LocalizedText("another program is using it", "他のプログラムが使用中です")
        case .heldByProgramOrService:
            LocalizedText("another program is using it, perhaps pcscd", "他のプログラム（pcscd など）が使用中です")
        case .heldByKernelDriver: LocalizedText("the kernel driver \(first) is using it", "カーネルのドライバー \(first) が使用中です")
        case .keptByKernelDriver: LocalizedText("the kernel driver does not release it", "カーネルのドライバーが手放しません")
        case .working: LocalizedText("it is busy with another program's command", "他のプログラムのために動作中です")
        case .sessionTaken: LocalizedText("another program has a session with it", "他のプログラムがセッションを開いています")
        case .notClaimed: LocalizedText("cannot claim it (libusb error \(first))", "占有できません（libusb のエラー \(first)）")
        case .invalidAnswers: LocalizedText("the reader no longer gives valid answers", "リーダーの応答が正しくありません")
        case .fieldNotOn: LocalizedText("the field did not come on in time", "電波を出せません")
        case .fieldOff: LocalizedText("the reader's field is off", "電波が出ていません")
        case .fieldStaysOn: LocalizedText("the field does not turn off", "電波を止められません")
        case .otherField: LocalizedText("the field of another reader interferes", "近くの別のリーダーの電波が妨げています")
        case .tooHot: LocalizedText("the reader is too hot", "リーダーが過熱しています")
        case .overcurrent: LocalizedText("the field draws too much current", "電流が多すぎます")
        case .transferRefused: LocalizedText("the reader refused a USB transfer", "USB 転送が拒否されました")
        case .transferTooLong: LocalizedText("a USB transfer was too long", "USB 転送が長すぎます")
        case .notInThisSession:
            LocalizedText("the reader's session does not allow this command", "リーダーのセッションではこのコマンドを使えません")
        case .chipStatus: LocalizedText("chip status \(first)", "チップの状態 \(first)")
        case .settingRefused:
            LocalizedText("the reader refused a setting (status \(first))", "リーダーが設定を拒否しました（状態 \(first)）")
        case .status: LocalizedText("the reader reported status \(first)", "リーダーの状態 \(first)")
        case .commandRefused:
            LocalizedText("the reader refused a command (error \(first))", "リーダーがコマンドを拒否しました（エラー \(first)）")
        case .libusb: LocalizedText("libusb error \(first)", "libusb のエラー \(first)")
        case .libnfc: LocalizedText("libnfc error \(first)", "libnfc のエラー \(first)")
        case .lineTooFast:
            LocalizedText(
                "its serial line cannot carry \(second) baud; unplug the reader, plug it back in, and set \(first)=115200",
                "シリアル回線が \(second) baud に対応していません。リーダーを差し直し、\(first)=115200 を指定してください")
        case .emptyFrame: LocalizedText("cannot send an empty frame", "空のフレームは送れません")
        case .commandTooLong: LocalizedText("the command is too long", "コマンドが長すぎます")
        case .alwaysISODEP:
            LocalizedText(
                "this reader always activates ISO-DEP on cards that support it",
                "このリーダーは ISO-DEP 対応のカードを必ず ISO-DEP に切り替えます")
        case .libnfcRefused: LocalizedText("libnfc refused the command", "libnfc がコマンドを拒否しました")
        case .noUSB: LocalizedText("libusb cannot access USB", "libusb が USB を使えません")
        case .noConfiguration: LocalizedText("it has no USB configuration", "USB の構成がありません")
        case .noInterface:
            LocalizedText("it does not have the USB interface of a PaSoRi", "PaSoRi の USB インターフェースがありません")
        case .thisKindOfCard: LocalizedText("cards of this kind", "この種類のカード")
        case .typeAAndB: LocalizedText("Type A and Type B cards", "Type A と Type B のカード")
        case .notTypeAOrB: LocalizedText("a card that is neither Type A nor Type B", "Type A でも Type B でもないカード")
        case .sector: LocalizedText("this sector", "このセクター")
        case .contactCard: LocalizedText("a contact card is in the reader", "接触型のカードが入っています")
        case .noFeliCaThroughService:
            LocalizedText(
                "this reader does not pass on FeliCa packets through PC/SC", "このリーダーは PC/SC では FeliCa のコマンドを通しません")
        case .noType2ThroughService:
            LocalizedText(
                "this reader does not pass this Type 2 Tag command through PC/SC",
                "このリーダーは PC/SC では Type 2 Tag のこのコマンドを通しません")
        case .commandRefusedByChip:
            LocalizedText("the reader refused the command (chip status \(first))", "リーダーがコマンドを拒否しました（チップの状態 \(first)）")
        case .libnfcDriverCannot:
            LocalizedText(
                "libnfc's driver for this reader does not support it (\(first))", "libnfc のドライバーが対応していません（\(first)）")
        case .libnfcWithoutFeliCa:
            LocalizedText("libnfc's driver \(first) does not support FeliCa", "libnfc のドライバー \(first) では FeliCa を読めません")
        case .tooManyOpenFiles:
            LocalizedText("libnfc cannot work with \(first) open files", "開いているファイルが \(first) 個あり、libnfc を使えません")
        case .noThread: LocalizedText("cannot start a thread (error \(first))", "スレッドを開始できません（エラー \(first)）")
        case .polling: LocalizedText("polling at \(first) kbit/s", "\(first) kbit/s のポーリング")
        case .serviceNotRunning: LocalizedText("pcscd is not running", "pcscd が動いていません")
        case .serviceStopped: LocalizedText("pcscd was stopped", "pcscd が停止しました")
        case .serviceRefusesUser:
            LocalizedText(
                "pcscd refuses this user (a polkit rule can allow it)", "pcscd の使用が許可されていません（polkit の設定が必要です）")
        case .serviceKnowsNoReader: LocalizedText("pcscd has no reader", "pcscd にリーダーがありません")
        case .serviceKnowsNoSuchReader: LocalizedText("pcscd has no reader with this name", "pcscd にこの名前のリーダーはありません")
        case .cardInUse: LocalizedText("another program is using the card through pcscd", "他のプログラムが pcscd でカードを使用中です")
        case .ambiguous: LocalizedText("this name matches several readers: \(first)", "この名前のリーダーが複数あります: \(first)")
        case .cardNotUnderstood:
            LocalizedText(
                "the reader cannot communicate with this card (PC/SC \(first))", "リーダーがこのカードと通信できません（PC/SC \(first)）")
        case .service: LocalizedText("PC/SC \(first)", "PC/SC \(first)")
        case .unknownSelector:
            LocalizedText(
                "\(first): takes serial=NUMBER or port=PATH, as in \(first):port=1-1.3",
                "\(first): の後には serial=番号 または port=パス が続きます（例: \(first):port=1-1.3）")
        case .portMissing:
            LocalizedText(
                "\(first): takes the path of its device, as in \(second)", "\(first): の後に装置のパスが必要です（例: \(second)）")
        case .unknownSpeed: LocalizedText("a PN532 supports the speeds \(first)", "PN532 で使える速度は \(first) です")
        case .tooManyColons: LocalizedText("the reader ID has too many colons", "リーダー ID のコロンが多すぎます")
        case .connectionStringTooLong: connectionString("it is longer than \(first) bytes", "\(first) バイトを超えています")
        case .connectionStringWithZero: connectionString("it contains a zero byte", "ゼロのバイトが含まれています")
        case .connectionStringWithColon: connectionString("it has too many colons", "コロンが多すぎます")
        case .connectionStringUSB:
            connectionString(
                "give a USB reader's bus and device number, as in acr122_usb:003:005",
                "USB リーダーはバスと装置の番号で指定します（例: acr122_usb:003:005）")
        case .connectionStringSpeed: connectionString("the speed is not a number", "速度が数字ではありません")
        case .connectionStringPath:
            connectionString(
                "\(first): takes the path of its device, as in \(second)", "\(first): の後に装置のパスが必要です（例: \(second)）")
        case .connectionStringUnknownSpeed:
            connectionString("libnfc supports the speeds \(first)", "使える速度は \(first) です")
        case .transcriptEnded:
            LocalizedText("it ends before \(first)", "記録は \(first) の前で終わっています")
        case .transcriptDiffers:
            LocalizedText(
                "line \(first): it was made with \(second), not \(third)", "\(first) 行目: 記録は \(second)、実行したのは \(third)")
        }
    }

    /// The name of the product that an ID such as `rcs380` or `rcs380:port=1-1.3` asks for.
    private func product(_ id: String) -> String {
        let parts = id.split(separator: ":", maxSplits: 1)
        let name =
            switch parts.first {
            case "rcs380": "RC-S380"
            case "rcs300": "RC-S300"
            default: id
            }
        return parts.count == 2 && name != id ? "\(name) (\(parts[1]))" : name
    }

    private func connectionString(_ english: String, _ japanese: String) -> LocalizedText {
        LocalizedText("not a valid libnfc connection string: \(english)", "libnfc の接続文字列ではありません: \(japanese)")
    }
}
