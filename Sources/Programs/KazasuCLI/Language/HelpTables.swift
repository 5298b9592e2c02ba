// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// The tables of the program's help that follow its examples and exit statuses. The man pages repeat them.
enum HelpTables {
    /// The environment variables that change what the program does, then the files that it uses.
    package static let text = tr(
        """
        Environment:
          KAZASU_READER              the reader to use without --reader
          KAZASU_STATIONS            station tables (a:b:c) after --stations, or none
          KAZASU_OUTBOX              the outbox of watch to use without --outbox
          KAZASU_CONFIG              the settings of watch to use without --config
          KAZASU_LEDGER              the ledger to use without --ledger
          KAZASU_CALLER              python: rpc's hints in the package's words
          KAZASU_NO_PROBLEM          1: keep nothing of a command that failed
          KAZASU_SERIAL_SPEED        115200: do not speed up a PN532's serial line
          LC_ALL, LC_MESSAGES, LANG  language of messages; the first one set counts
          COLUMNS                    width of the terminal
          NO_COLOR                   no colors, if set and not empty
          XDG_CACHE_HOME             the same for kept layouts; default: ~/.cache
          XDG_DATA_HOME              folder of kazasu/; default: ~/.local/share
          XDG_STATE_HOME             the same for the outbox; default: ~/.local/state
          LIBNFC_DEVICE              a reader for libnfc; hides its other ones
          LIBNFC_DEFAULT_DEVICE      a reader for libnfc beside those it finds
          LIBNFC_AUTO_SCAN           false: libnfc does not look for USB readers
          LIBNFC_INTRUSIVE_SCAN      true: libnfc tries every serial port
          LIBNFC_LOG_LEVEL           0 (nothing) to 3: libnfc's own messages
          PCSCLITE_CSOCK_NAME        the socket of pcscd

        Files:
          ~/.cache/kazasu/           layouts of cards seen before
          ~/.local/share/kazasu/     imported station tables, the ledger
          ~/.local/state/kazasu/     the outbox of watch, the last failure
          /etc/nfc/                  libnfc's configuration
          /etc/udev/rules.d/         the rules that 'doctor --fix' installs
        """,
        """
        環境変数:
          KAZASU_READER              --reader を省略したときのリーダー
          KAZASU_STATIONS            --stations の次に引く駅の表（a:b:c）、または none
          KAZASU_OUTBOX              --outbox を省略したときの watch の outbox
          KAZASU_CONFIG              --config を省略したときの watch の設定
          KAZASU_LEDGER              --ledger を省略したときの台帳
          KAZASU_CALLER              python なら rpc のヒントが Python の言葉になる
          KAZASU_NO_PROBLEM          1 なら失敗したコマンドの記録を保存しない
          KAZASU_SERIAL_SPEED        115200 なら PN532 のシリアル回線を高速化しない
          LC_ALL, LC_MESSAGES, LANG  表示言語（最初に設定されているもの）
          COLUMNS                    端末の幅
          NO_COLOR                   空でなければ色を付けない
          XDG_CACHE_HOME             カードの一覧を保存するフォルダー（既定: ~/.cache）
          XDG_DATA_HOME              kazasu/ を置くフォルダー（既定: ~/.local/share）
          XDG_STATE_HOME             同上、outbox 用（既定: ~/.local/state）
          LIBNFC_DEVICE              libnfc のリーダー（ほかは見えなくなる）
          LIBNFC_DEFAULT_DEVICE      libnfc が見つけるものに加えるリーダー
          LIBNFC_AUTO_SCAN           false なら libnfc は USB リーダーを探さない
          LIBNFC_INTRUSIVE_SCAN      true なら libnfc はシリアルポートも順に試す
          LIBNFC_LOG_LEVEL           libnfc のメッセージ: 0（なし）～3
          PCSCLITE_CSOCK_NAME        pcscd のソケット

        ファイル:
          ~/.cache/kazasu/           読んだことのあるカードの一覧
          ~/.local/share/kazasu/     取り込んだ駅の表、台帳
          ~/.local/state/kazasu/     watch の outbox、最後の失敗の記録
          /etc/nfc/                  libnfc の設定
          /etc/udev/rules.d/         doctor --fix がルールを入れる場所
        """)
}
