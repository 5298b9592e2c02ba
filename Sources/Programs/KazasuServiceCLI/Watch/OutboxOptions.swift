// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import KazasuTaps

struct OutboxPath: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help(
            "The outbox. Default: KAZASU_OUTBOX, else $XDG_STATE_HOME/kazasu/outbox.sqlite.",
            "outbox のファイル。省略時は KAZASU_OUTBOX、なければ $XDG_STATE_HOME/kazasu/outbox.sqlite。", value: "file"),
        completion: .file())
    var outbox: String?

    /// The path to use.
    func path() throws(CommandError) -> String { try place().path }

    /// The path to use, and whether the user chose it: then its folder must be there, as it may be a disk that is not
    /// mounted.
    func place() throws(CommandError) -> (path: String, isChosen: Bool) {
        if let outbox {
            guard !outbox.isEmpty else { throw .emptyName("--outbox") }
            return (outbox, true)
        }
        if let path = SystemEnvironment.all["KAZASU_OUTBOX"], !path.isEmpty { return (path, true) }
        if let folder = SystemEnvironment.folder("XDG_STATE_HOME", usual: ".local/state") {
            return ("\(folder)/kazasu/outbox.sqlite", false)
        }
        throw CommandError(.outboxPlace)
    }
}

/// What is kept in the outbox of `watch`, and for how long.
struct OutboxOptions: ParsableArguments {
    @OptionGroup var place: OutboxPath

    @Flag(
        reach: .never, name: .long,
        help: help(
            "Keep events until the consumer has acknowledged them (MQTT topic ack).",
            "受信側が受領を返すまでイベントを残す（MQTT の ack トピック）。"))
    var confirm = false

    @Option(
        reach: .never, name: .long, parsing: .unconditional,
        help: help("Delete delivered events after so many days.", "配信済みのイベントをこの日数で消す。", value: "days"))
    var keepDays = 7.0

    @Option(
        reach: .never, name: .long,
        help: help(
            "Delete the oldest delivered events above this size, as in 100M.", "この大きさを超えたら、配信済みの古いイベントから消す（例: 100M）。",
            value: "size"))
    var keepSize = ByteSize(bytes: 100 << 20)

    func validate() throws {
        guard (0...36_500).contains(keepDays) else {
            throw ValidationError(tr("--keep-days takes 0 to 36500", "--keep-days は 0～36500 です"))
        }
    }

    var retention: Outbox.Retention {
        Outbox.Retention(days: keepDays, size: keepSize.bytes, needsConfirmation: confirm)
    }
}

/// A size with K, M or G for powers of 1024.
struct ByteSize: ExpressibleByArgument, Equatable {
    static var example: LocalizedText? { LocalizedText("100M or 2G", "100M、2G") }

    var bytes: Int

    init(bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        let units: [(Character, Int)] = [("K", 10), ("M", 20), ("G", 30)]
        let unit = units.first { argument.uppercased().hasSuffix(String($0.0)) }
        guard let number = Int(unit == nil ? argument : String(argument.dropLast())),
            (1...1 << 20).contains(number) || (unit == nil && number > 0 && number <= 1 << 50)
        else { return nil }
        bytes = number << (unit?.1 ?? 0)
    }

    var defaultValueDescription: String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20)M" : "\(bytes)"
    }
}

extension CommandError {
    /// Why the outbox cannot be used.
    init(_ error: OutboxError) {
        switch error {
        case .locked: self.init(.outboxLocked, error)
        case .unusable(let path, let errno): self = .unwritable(path, errno)
        case .newer: self.init(.outboxNewer, error)
        case .foreign: self.init(.outboxForeign, error)
        case .foreignJournal: self = .foreignJournal(error)
        case .damaged: self.init(.outboxDamaged, error)
        case .full: self.init(.outboxFull, error)
        case .readOnly: self.init(.outboxReadOnly, error)
        case .failed: self.init(.outboxFailed, error)
        }
    }
}
