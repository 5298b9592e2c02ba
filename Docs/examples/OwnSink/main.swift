// SPDX-License-Identifier: Apache-2.0

// Writes a line for every card that comes and goes into a file, none twice and none lost: also not when the disk was full or
// the program was killed.
import Foundation
import KazasuTaps

/// A file of lines. The outbox calls it again with the same event until it has it.
actor LineSink: Sink {
    let name: String
    let window = 50
    private let path: String
    private var written: Set<String>

    init(_ path: String) {
        (self.path, name) = (path, "lines:\(path)")
        let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
        written = Set(lines.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        // After a retry, nothing later is delivered: the order of a reader's events stays.
        await DeliveryResult.inOrder(events) { deliver($0) }
    }

    private func deliver(_ event: StoredEvent) -> DeliveryResult {
        guard case .on(let card, _) = event.kind, !written.contains(event.id) else { return .delivered }
        guard let file = fopen(path, "a") else { return .retry("disk", after: .seconds(5)) }
        let isWritten = fputs("\(event.id) \(event.moment.text) \(card.tag ?? "-")\n", file) >= 0
        guard fclose(file) == 0, isWritten else { return .retry("disk", after: .seconds(5)) }
        written.insert(event.id)
        return .delivered
    }

    func close() async {}
}

let arguments = CommandLine.arguments
let (path, reader) = (arguments.dropFirst().first ?? "cards.txt", arguments.dropFirst(2).first)
let outbox = try await Outbox.open("\(path).outbox", isWatcher: true)
let plan = Watcher.Plan(site: "office", readers: reader.map { [$0] }, sinks: [{ LineSink(path) }])
let watcher = Watcher(plan, outbox: outbox) { event, _ in
    print(event.kind.word, event.reader)
} tell: { notice in
    FileHandle.standardError.write(Data("\(notice)\n".utf8))
}
try await watcher.run()
await outbox.close()
