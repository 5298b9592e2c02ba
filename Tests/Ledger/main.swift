// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import Glibc
import KazasuLedger

// Measures the ledger, and writes what people should look at:
//
//     ledger-bench FILE bench RECORDS   imports so many records of 450 cards, asks questions, prints milliseconds
//     ledger-bench FILE memory          asks and exports everything, each in a process of its own; prints its most memory
//     ledger-bench FILE memory WHAT     one of these
//     ledger-bench FILE grow            imports without end, to be killed
//     ledger-bench FILE check           prints the number of records of a whole file
//     ledger-bench FILE export FORMAT   writes a file to standard output
//     ledger-bench FILE report en|ja    writes the page to standard output

/// Names for the stations of the invented cards.
struct InventedStations: StationNames {
    private static let names = ["上野", "秋葉原", "神田", "東京", "有楽町", "新橋", "品川", "大崎", "渋谷", "新宿", "池袋", "巣鴨"]

    func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let index = Int(code.station) % InventedStations.names.count
        return StationName(
            company: code.line == 0 ? "JR東" : "メトロ", line: code.line == 0 ? "山手線" : "銀座線",
            name: InventedStations.names[index])
    }

    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}

/// A commuter's card: two rides a working day, a shop now and then, a charge when the money is low.
struct Commuter {
    let number: Int
    private var (serial, balance, day, step) = (1, 5_000, 8_766, 0)
    private var blocks: [Block] = []

    init(_ number: Int) { self.number = number }

    private func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    mutating func live(_ records: Int) {
        for _ in 0..<records {
            let date = CalendarDate(daysSince2000: UInt16(truncatingIfNeeded: day))
            let packed = (date.year - 2000) << 9 | date.month << 5 | date.day
            let (home, work) = (UInt8(number % 7 + 1), UInt8(number % 5 + 8))
            var bytes: [UInt8]
            if balance < 500 {
                balance += 3_000
                serial += 1
                bytes = [0x08, 0x02, 0, 0] + big(packed, 2) + [0, home, 0, 0]
            } else if step % 5 == 4 {
                balance -= 130 + step % 7 * 40
                serial += 1
                bytes = [0xC7, 0x46, 0, 0] + big(packed, 2) + big(18 << 11 | (step % 60) << 5, 2) + [1, 2]
            } else {
                balance -= step % 9 == 0 ? 210 : 178
                serial += 2
                let places = step % 2 == 0 ? [0, home, 0, work] : [0, work, 0, home]
                bytes = [0x16, 0x01, 0, 0] + big(packed, 2) + (step % 9 == 0 ? [0xE3, home, 0xE3, 10] : places)
            }
            bytes += big(max(0, balance), 2).reversed() + big(serial, 3) + [0]
            blocks.append(Block(bytes) ?? .zero)
            step += 1
            if step % 3 == 0 { day += step % 15 == 0 ? 3 : 1 }
        }
    }

    /// What a reader finds now.
    var dump: CardDump {
        let idm = IDm(rawValue: 0x0101_0600_0000_0000 + UInt64(number))
        let service = ServiceDump(
            code: ServiceCode(rawValue: 0x090F), state: .read,
            blocks: BlockTable(zip(UInt16(0)..., blocks.suffix(20).reversed())))
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        return CardDump(
            card: CardIdentity(technology: .felica, idm: idm, pmm: pmm),
            systems: [SystemDump(systemCode: SystemCode(rawValue: 3), idm: idm, pmm: pmm, services: [service])])
    }
}

func milliseconds(_ body: () throws -> Void) rethrows -> Int {
    let clock = ContinuousClock()
    return Int(try clock.measure(body) / .milliseconds(1))
}

func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

func bench(_ ledger: Ledger, _ records: Int) throws {
    var commuters = (0..<450).map { Commuter($0) }
    var (read, added, spent, made) = (0, 0, 0, 0)
    while added < records {
        var dumps: [CardDump] = []
        for index in commuters.indices {
            // Most visits overlap the one before; some come too late.
            commuters[index].live((made + index) % 29 == 0 ? 27 : 18)
            dumps.append(commuters[index].dump)
        }
        made += 1
        spent += try milliseconds {
            let addition = try ledger.keep(dumps, source: LedgerSource(.file))
            read += addition.read
            added += addition.added
        }
    }
    print("import: \(added) of \(read) records in \(spent) ms, \(read * 1000 / max(1, spent)) records/s")
    let month = LedgerFilter(month: "2024-11") ?? LedgerFilter()
    let card = LedgerFilter(cards: ["0101060000000007"])
    let days = LedgerFilter(since: CalendarDate("2024-03-12"), until: CalendarDate("2025-02-20"))
    let questions: [(String, () throws -> Int)] = [
        ("sum --by month", { try ledger.sum(by: .month).count }),
        ("sum --by kind", { try ledger.sum(by: .kind).count }),
        ("sum --by station", { try ledger.sum(by: .station).count }),
        ("sum --by line", { try ledger.sum(by: .line).count }),
        ("sum --by card", { try ledger.sum(by: .card).count }),
        ("sum --by month --since --until", { try ledger.sum(by: .month, days).count }),
        ("list of a month, first 1000", { try ledger.records(month, limit: 1000).count }),
        ("list of a card", { try ledger.records(card).count }),
        (
            "list --kind purchase, newest 100",
            { try ledger.records(LedgerFilter(kinds: [.purchase]), limit: 100).count }
        ),
        ("gaps of a card", { try ledger.gaps(card).count }),
        ("claim of a card", { try ledger.claim(card).count }),
    ]
    for (name, question) in questions {
        var (count, times): (Int, [Int]) = (0, [])
        for _ in 0..<5 { times.append(try milliseconds { count = try question() }) }
        print("\(name): \(count) in \(times.sorted()[2]) ms (first \(times[0]))")
    }
}

/// What is measured alone: questions and exports of any length, as the program does them.
func work(_ name: String, _ ledger: Ledger) throws {
    var (claim, options) = (LedgerExportOptions(), LedgerExportOptions())
    (claim.isClaim, claim.hasGaps) = (true, true)
    options.language = .english
    func discard(_ format: LedgerFormat, _ options: LedgerExportOptions) throws {
        _ = try ledger.export(format, options) { _ in true }
    }
    switch name {
    case "list": try ledger.select(LedgerFilter()) { records in try records.forEach { _ in true } }
    case "list --json":
        var bytes = 0
        let missing = try ledger.missing()
        var writer = JSONPrettyWriter { span in bytes += span.count }
        try ledger.select(LedgerFilter()) { records in
            writer.object { document in
                LedgerJSON.write(to: &document, .english, missing: missing) { write in
                    try? records.forEach { record in
                        write(record)
                        return true
                    }
                }
            }
        }
        writer.finish()
    case "list --format csv":
        let csv = LedgerCSV(.english)
        try ledger.select(LedgerFilter()) { records in
            try records.forEach { record in
                _ = csv.row(record)
                return true
            }
        }
    case "export --claim --gaps": try discard(.csv, claim)
    case "report": _ = try ledger.report(.english)
    case "sum --by day": _ = try ledger.sum(by: .day)
    case "sum --by week": _ = try ledger.sum(by: .week)
    case "gaps": _ = try ledger.gaps()
    default:
        guard let format = LedgerFormat(rawValue: String(name.dropFirst("export ".count))) else { exit(64) }
        if format == .sfcard { options.filter.cards = ["0101060000000007"] }
        try discard(format, options)
    }
}

/// Runs each in a process of its own.
func measureMemory(_ file: String) throws {
    let works =
        [
            "list", "list --json", "list --format csv", "export --claim --gaps", "report", "sum --by day",
            "sum --by week", "gaps",
        ]
        + LedgerFormat.allCases.map { "export " + $0.rawValue }
    for work in works {
        let texts = [CommandLine.arguments[0], file, "memory", work]
        var words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/proc/self/exe", nil, nil, &words, environ) == 0 else { exit(70) }
        var (status, usage) = (Int32(0), rusage())
        guard wait4(child, &status, 0, &usage) == child, status == 0 else { exit(70) }
        let seconds = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
        print("\(work): \(usage.ru_maxrss / 1024) MiB, \(Int(seconds * 1000)) ms")
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(64) }
var options = Ledger.Options()
options.stations = InventedStations()
let ledger = try Ledger.open(arguments[1], options: options)
let last = arguments.count > 3 ? arguments[3] : ""
switch arguments[2] {
case "memory" where last.isEmpty: try measureMemory(arguments[1])
case "memory": try work(last, ledger)
case "bench": try bench(ledger, Int(last) ?? 100_000)
case "grow":
    var commuter = Commuter(getpid() % 1_000 == 0 ? 1 : Int(getpid() % 1_000))
    while true {
        var dumps: [CardDump] = []
        for _ in 0..<40 {
            commuter.live(15)
            dumps.append(commuter.dump)
        }
        try ledger.keep(dumps, source: LedgerSource(.card))
    }
case "check":
    try ledger.verify()
    print(try ledger.sum(by: .card).reduce(0) { $0 + $1.records }, try ledger.gaps().count)
case "export":
    var choice = LedgerExportOptions()
    choice.filter.cards = arguments.count > 4 ? [arguments[4]] : []
    write(try ledger.export(LedgerFormat(rawValue: last) ?? .csv, choice).data)
case "report":
    let filter = LedgerFilter(cards: arguments.count > 4 ? [arguments[4]] : [])
    write(try ledger.report(last == "ja" ? .japanese : .english, filter))
default: exit(64)
}
