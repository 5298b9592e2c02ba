// SPDX-License-Identifier: Apache-2.0

package import CardModel

extension DocumentError.Expectation {
    /// The missing or malformed item, as a phrase that follows "expected". Values are shown unchanged.
    package var text: LocalizedText {
        let text = words
        guard let key, !key.isEmpty else { return text }
        return LocalizedText("\(key): \(text.english)", "\(key): \(text.japanese)")
    }

    private var words: LocalizedText {
        let (first, second) = (values.first ?? "", values.dropFirst().first ?? "")
        let list = values.joined(separator: "、")
        let choice =
            values.count < 2
            ? first : values.dropLast().joined(separator: ", ") + " or " + (values.last ?? "")
        return switch code {
        case .hexStation:
            LocalizedText("area, line and station code (0 to 255), hexadecimal", "16 進の地区・線区・駅順（0～255）")
        case .decimalStation:
            LocalizedText("area, line and station code (0 to 255), decimal", "10 進の地区・線区・駅順（0～255）")
        case .hexBusStop:
            LocalizedText("operator and stop code (0 to 65535), hexadecimal", "16 進の事業者・停留所（0～65535）")
        case .decimalBusStop:
            LocalizedText("operator and stop code (0 to 65535), decimal", "10 進の事業者・停留所（0～65535）")
        case .object: LocalizedText("an object", "オブジェクト")
        case .array: LocalizedText("an array", "配列")
        case .string: LocalizedText("a string", "文字列")
        case .bool: LocalizedText("true or false", "true または false")
        case .integer: LocalizedText("a whole number", "整数")
        case .number: LocalizedText("a number from \(first)", "\(first) の数")
        case .milliseconds: LocalizedText("milliseconds", "ミリ秒")
        case .oneOf: LocalizedText("\(choice)", "\(list) のどれか")
        case .form: LocalizedText("\(first)", "\(first) の形")
        case .bytes: LocalizedText("\(choice) bytes", "\(list) バイト")
        case .bytesInHex: LocalizedText("\(choice) bytes in hexadecimal", "16 進の \(list) バイト")
        case .bytesInBase64: LocalizedText("\(first) bytes in base64", "base64 の \(first) バイト")
        case .bytesInHexOrBase64:
            LocalizedText("\(first) bytes in hexadecimal or base64", "16 進または base64 の \(first) バイト")
        case .byteList: LocalizedText("a list of \(first) bytes", "\(first) バイトの配列")
        case .hexDigits: LocalizedText("\(first) hexadecimal digits", "16 進 \(first) 桁")
        case .hex: LocalizedText("hexadecimal digits", "16 進数")
        case .shortHexNumber: LocalizedText("a number of at most four hexadecimal digits", "16 進 4 桁以内の数")
        case .hexName: LocalizedText("a name of \(first) hexadecimal digits", "16 進 \(first) 桁の名前")
        case .decimalName: LocalizedText("a decimal number as its name", "名前は 10 進数")
        case .decimalByteName: LocalizedText("a decimal number from 0 to 255 as its name", "名前は 10 進の 0～255")
        case .decimalServiceName: LocalizedText("a decimal service code as its name", "名前は 10 進のサービスコード")
        case .decimalSystemName: LocalizedText("a decimal system code as its name", "名前は 10 進のシステムコード")
        case .oneOfNames: LocalizedText("\(choice) as its name", "名前は \(list) のどれか")
        case .counterName: LocalizedText("the number of a counter as its name", "名前はカウンターの番号")
        case .pageName:
            LocalizedText("the number of a page of this tag as its name, in hexadecimal", "名前はこのタグのページ番号（16 進）")
        case .serviceName: LocalizedText("a service code as its name", "名前はサービスコード")
        case .nodeName: LocalizedText("the code of a node of this system as its name", "名前はこのシステムのノードのコード")
        case .instructionName: LocalizedText("an instruction byte as its name", "名前は命令バイト")
        case .commandName: LocalizedText("a command APDU in hexadecimal as its name", "名前は 16 進のコマンド APDU")
        case .parametersName: LocalizedText("P1 and P2 as its name", "名前は P1 と P2")
        case .atMostSystems: LocalizedText("at most \(first) systems", "\(first) 個以下のシステム")
        case .atMostBlocks: LocalizedText("at most \(first) blocks", "\(first) 個以下のブロック")
        case .atMostPages: LocalizedText("at most \(first) pages", "\(first) 個以下のページ")
        case .atMostRecords: LocalizedText("at most \(first) records", "\(first) 件以下の履歴")
        case .atMostBytes: LocalizedText("at most \(first) bytes", "\(first) バイト以下")
        case .atMostApplications: LocalizedText("at most \(first) applications", "\(first) 個以下のアプリケーション")
        case .systemCount: LocalizedText("\(first) systems", "\(first) 個のシステム")
        case .cardCount: LocalizedText("\(first) cards", "\(first) 枚のカード")
        case .uniqueBlock: LocalizedText("a block that is listed only once", "重複しないブロック")
        case .uniquePage: LocalizedText("a page that is listed only once", "重複しないページ")
        case .uniquePIN: LocalizedText("each PIN name only once", "重複しない暗証番号の名前")
        case .areasBefore:
            LocalizedText(
                "\(first) areas before this line, not \(second)", "この行までに \(first) 個のエリア（実際は \(second) 個）")
        case .servicesBefore:
            LocalizedText(
                "\(first) services before this line, not \(second)", "この行までに \(first) 個のサービス（実際は \(second) 個）")
        case .systemsBefore:
            LocalizedText("\(first) systems before this line, not \(second)", "この行までに \(first) 個のシステム（実際は \(second) 個）")
        case .blocksBefore:
            LocalizedText("\(first) blocks before this line, not \(second)", "この行までに \(first) 個のブロック（実際は \(second) 個）")
        case .pagesBefore:
            LocalizedText("\(first) pages before this line, not \(second)", "この行までに \(first) ページ（実際は \(second) ページ）")
        case .onePage: LocalizedText("at least one page", "1 個以上のページ")
        case .utf8: LocalizedText("UTF-8", "UTF-8")
        case .xml: LocalizedText("XML (\(first))", "XML（\(first)）")
        case .noDocumentType: LocalizedText("no document type", "文書型宣言のない XML")
        case .xmlDepth: LocalizedText("elements nested less than \(first) levels deep", "入れ子が \(first) 段より浅い要素")
        case .closingQuote: LocalizedText("a closing quote", "閉じる引用符")
        case .packet: LocalizedText("a whole FeliCa packet", "欠けのない FeliCa パケット")
        case .packetInHex: LocalizedText("a FeliCa packet in hexadecimal", "16 進の FeliCa パケット")
        case .packetLength: LocalizedText("a FeliCa packet whose first byte is its length", "先頭のバイトと長さが合う FeliCa パケット")
        case .matchingAnswer: LocalizedText("the response to the command before it", "直前のコマンドへの応答")
        case .pin: LocalizedText("a PIN of 1 to 64 bytes", "1～64 バイトの暗証番号")
        case .pmm: LocalizedText("a PMm of 8 bytes", "8 バイトの PMm")
        case .idm: LocalizedText("an IDm of 8 bytes", "8 バイトの IDm")
        case .cardWithIDm: LocalizedText("a card with its IDm", "IDm のあるカード")
        case .feliCaCard: LocalizedText("one FeliCa card", "FeliCa カード 1 枚")
        case .onePhoneCard: LocalizedText("at most one FeliCa card in a phone", "スマートフォンの FeliCa カードは 1 枚まで")
        case .blockAfterAsterisk: LocalizedText("a block after a line with an asterisk", "* の行の後のブロック")
        case .blockBeforeAsterisk: LocalizedText("a block before a line with an asterisk", "* の行の前のブロック")
        case .blockAfterService: LocalizedText("a block after its service", "サービスの後のブロック")
        case .blockInService: LocalizedText("a block inside a service", "サービスの中のブロック")
        case .blockOfService: LocalizedText("a block of a service", "サービスのブロック")
        case .blockOfNamedService: LocalizedText("a block of the service named before it", "直前に書かれたサービスのブロック")
        case .largerBlockNumber: LocalizedText("a block number larger than the one before", "前の行より大きいブロック番号")
        case .blockNumberUpTo: LocalizedText("a block number from 0 to \(first)", "0～\(first) のブロック番号")
        case .blockNumber: LocalizedText("a block number", "ブロック番号")
        case .blockWithAddress: LocalizedText("a block with its decimal address", "10 進のアドレスがあるブロック")
        case .fewerRepeats: LocalizedText("fewer repeated blocks", "もっと少ない繰り返し")
        case .paddedBlocks: LocalizedText("blocks of 16 bytes, then 90 00", "16 バイトのブロックと 90 00")
        case .unsharedBlocks:
            LocalizedText("blocks at only one of the services that share them", "共有するサービスのうち 1 つだけに書かれたブロック")
        case .transitCardType:
            LocalizedText("the card type Suica or Japan Transit IC", "カード種別 Suica か Japan Transit IC")
        case .wireCode: LocalizedText("a code in wire byte order with the number \(first)", "番号 \(first) の、通信のバイト順のコード")
        case .numberedCode: LocalizedText("a code with the number \(first)", "番号 \(first) のコード")
        case .code: LocalizedText("a code of four hexadecimal digits", "16 進 4 桁のコード")
        case .twoByteCode: LocalizedText("a code of two bytes", "2 バイトのコード")
        case .decimalCode: LocalizedText("a decimal code", "10 進のコード")
        case .prefixedCodes: LocalizedText("codes written like 0x090F", "0x090F の形のコード")
        case .serviceSelection:
            LocalizedText("a command that selects a service before blocks are read", "ブロックを読む前にサービスを選ぶコマンド")
        case .knownCommand: LocalizedText("a command that virtual cards support: \(choice)", "仮想カードが対応するコマンド: \(list)")
        case .count: LocalizedText("a count", "個数")
        case .date: LocalizedText("a date like 2020-03-14", "日付（例: 2020-03-14）")
        case .deviceType: LocalizedText("a device type", "デバイス種別")
        case .feliCaDevice: LocalizedText("the device type FeliCa", "デバイス種別 FeliCa")
        case .field: LocalizedText("the field \(first)", "項目 \(first)")
        case .nfcpyLine: LocalizedText("a line of an nfcpy dump", "nfcpy のダンプの行")
        case .systemLine: LocalizedText("a line that names the system", "システムを示す行")
        case .protocolInfo: LocalizedText("a protocol info of 3 or 4 bytes", "3 または 4 バイトのプロトコル情報")
        case .historyRecord:
            LocalizedText("a record of a transit card's history (service 090F)", "交通系カードの履歴（サービス 090F）")
        case .serviceOrArea:
            LocalizedText("a service like 090F, or an area like 1000-17FF", "090F の形のサービス、または 1000-17FF の形のエリア")
        case .serviceAttribute:
            LocalizedText("a service code whose low six bits are the attribute", "下位 6 ビットが属性と一致するサービスコード")
        case .serviceForBlocks: LocalizedText("a service for the blocks", "ブロックのサービス")
        case .serviceInSystem: LocalizedText("a service in a system", "システムの中のサービス")
        case .systemBeforeServices: LocalizedText("a system before its services", "サービスの前のシステム")
        case .systemOrBlock: LocalizedText("a system or a block before the end", "ファイルの終わりまでにシステムかブロック")
        case .systemOfCard: LocalizedText("the code of a system of this card", "このカードのシステムのコード")
        case .tellingServices:
            LocalizedText("services that identify the system before the end of the log", "記録の終わりまでにシステムがわかるサービス")
        case .accessRule:
            LocalizedText("always, never, a status word or a list of PIN names", "always、never、ステータスワード、または暗証番号の名前の配列")
        case .knownPINs:
            LocalizedText(
                "read and update rules that name PINs of this card: \(choice)", "このカードにある暗証番号を使う read と update: \(list)"
            )
        case .ats:
            LocalizedText("an ATS of at most 20 bytes whose first byte is its length", "先頭のバイトが長さを示す 20 バイト以下の ATS")
        case .uidOrRandom: LocalizedText("4, 7 or 10 bytes, or random", "4、7、10 バイト、または random")
        case .liteSystems: LocalizedText("at most two systems of a FeliCa Lite", "FeliCa Lite のシステムは 2 個まで")
        case .noSystemBesideLite:
            LocalizedText("no system next to the blocks of a FeliCa Lite", "FeliCa Lite のブロックと並ばないシステム")
        case .dataFormat: LocalizedText("data format 1 or 2", "データ形式 1 か 2")
        case .flipperVersion: LocalizedText("version 2, 3 or 4", "バージョン 2、3、4 のどれか")
        case .publicOrPrivate:
            LocalizedText("Public or Private, matching the service code", "サービスのコードに合う Public か Private")
        case .fieldOnly:
            LocalizedText(
                "no \(first) here; it belongs in the document's virtual member",
                "ここには \(first) を書けません。文書の virtual に書きます")
        case .noKey: LocalizedText("no key; this tag has none", "鍵なし（このタグに鍵はありません）")
        case .noPassword: LocalizedText("no password; this tag has none", "パスワードなし（このタグにパスワードはありません）")
        case .knownMember: LocalizedText("a known member: \(choice)", "使えるキー: \(list)")
        case .member: LocalizedText("the member \(first)", "キー \(first) が必要です")
        case .jsonObject: LocalizedText("one JSON object (byte \(first))", "1 つの JSON オブジェクト（\(first) バイト目）")
        case .oneMoment: LocalizedText("one of at, from, every and perThousand", "at、from、every、perThousand のどれか 1 つ")
        case .oneType: LocalizedText("either typeA or typeB", "typeA か typeB の一方")
        case .stationRows: LocalizedText("rows of station codes and names", "駅コードと駅名の行")
        case .stationRadix:
            LocalizedText("hex or decimal, but the file does not say which", "16 進か 10 進（ファイルからは判断できません）")
        case .scannedAt: LocalizedText("scanned_at in milliseconds since 1970", "1970 年からのミリ秒の scanned_at")
        case .errorName: LocalizedText("the name of an error", "エラーの名前")
        case .serviceNumber: LocalizedText("the number and attribute of a service", "サービスの番号と属性")
        case .counterValue: LocalizedText("the number and value of a counter", "カウンターの番号と値")
        case .nextOffset: LocalizedText("the offset after the previous line", "前の行に続くオフセット")
        case .simulatedTag:
            LocalizedText("a tag that can be simulated, or virtual.model", "シミュレートできるタグ、または virtual.model")
        }
    }
}

extension DocumentError.Reason {
    /// The fault in a JSON text; empty where the location is enough.
    package var text: LocalizedText {
        switch self {
        case .syntax: LocalizedText("", "")
        case .endsEarly: LocalizedText(": the text ends too early", "で文書が途切れています")
        case .notUTF8: LocalizedText(": not UTF-8", "が UTF-8 ではありません")
        case .tooDeep:
            LocalizedText(
                ": nested deeper than \(JSONValue.deepestNesting) levels", "で入れ子が \(JSONValue.deepestNesting) 段を超えています")
        case .tooManyValues:
            LocalizedText(": more than \(JSONValue.mostValues) values", "で値が \(JSONValue.mostValues) 個を超えています")
        case .numberTooLarge: LocalizedText(": the number is too large", "の数が大きすぎます")
        }
    }
}
