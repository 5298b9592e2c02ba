// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

/// `kazasu readers --watch`: a line for every reader that is present, arrives, changes or leaves.
struct ReaderEvents {
    private let context: Context

    init(_ context: Context) {
        self.context = context
    }

    /// Runs until it is stopped, which is not a failure, or until nobody reads the answer any more.
    func run() throws(CommandError) {
        Interrupt.hold()
        do throws(CommandError) {
            try watch()
        } catch {
            guard context.cancellation.isCancelled else { throw error }
        }
    }

    private func watch() throws(CommandError) {
        let watch = DeviceTracker(ReaderRegistry.notices(context.cancellation)) {
            ListedReader.all(without: ChipCardServiceError.now())
        }
        context.note(tr("watching; press Ctrl-C to stop", "監視しています。Ctrl-C で終了します"))
        // A reader found at the start did not arrive just now.
        for change in try next(watch) { try tell("present", tr("present", "接続中"), change.device) }
        while Output.isWanted {
            for change in try next(watch) { try tell(change) }
        }
        throw .brokenPipe
    }

    private func next(_ watch: DeviceTracker<ListedReader>) throws(CommandError) -> [DeviceChange<ListedReader>] {
        do throws(TransportError) {
            return try watch.next()
        } catch {
            throw CommandError(error)
        }
    }

    private func tell(_ change: DeviceChange<ListedReader>) throws(CommandError) {
        switch change {
        case .arrived(let reader): try tell("arrived", tr("arrived", "接続"), reader)
        case .changed(let reader): try tell("changed", tr("changed", "変化"), reader)
        case .left(let reader): try tell("left", tr("left", "取り外し"), reader, isThere: false)
        }
    }

    private func tell(_ event: String, _ word: String, _ reader: ListedReader, isThere: Bool = true)
        throws(CommandError)
    {
        guard context.json else {
            let cells = isThere ? reader.cells : [reader.cells[0], reader.name ?? ""]
            return try context.print(([word] + cells).filter { !$0.isEmpty }.joined(separator: "  ") + "\n")
        }
        var object = JSONObject([("schema", "kazasu.readerEvent/1"), ("event", .string(event))])
        for member in reader.json.members where isThere || ["id", "name"].contains(member.key) {
            object[member.key] = member.value
        }
        try context.print(line: .object(object))
    }
}
