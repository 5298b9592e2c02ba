// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import Synchronization
import TestSupport
import VirtualReader

@testable import Recordings

/// A recording of a virtual reader.
struct Made {
    let ending: ReaderCourse.Ending
    let header: Recording.Header
    let items: [Recording.Item]

    /// - Parameter card: the path of a card file; without one, the field is empty.
    init(_ card: String?, cancellation: CancellationToken? = nil, _ change: (VirtualField) -> Void = { _ in }) throws {
        let field = try card.map { try VirtualField(cardFile: TestFiles.read($0)) } ?? VirtualField(cards: [])
        change(field)
        self.init(InProcessReader(field), hasCard: card != nil, cancellation: cancellation)
    }

    init(
        _ reader: any Reader, hasCard: Bool = true, wait: CardWait = Made.quick, cancellation: CancellationToken? = nil
    ) {
        var time = 0
        let recorder = CourseRecorder(
            reader,
            now: {
                time += 125
                return .microseconds(time)
            })
        let course = ReaderCourse(recorder, cancellation: cancellation ?? CancellationToken())
        ending = course.run(hasCard: hasCard, wait: wait)
        header = RecordingMask.apply(
            Recording.Header(
                course: .reader, tool: "kazasu 0.3.0", day: "2026-11-28", reader: reader.information, isSimulated: true,
                system: ["distribution": "debian 12", "kernel": "6.1.0"]))
        items = recorder.lines(isComplete: ending == .complete)
    }

    /// One round, by a clock that goes on whenever it is looked at.
    static var quick: CardWait {
        let time = Mutex(0)
        return CardWait(
            .zero,
            clock: SearchClock(
                now: {
                    time.withLock {
                        $0 += 10
                        return .milliseconds($0)
                    }
                }, pause: { pause in time.withLock { $0 += Int(pause / .milliseconds(1)) } }))
    }

    var text: String { ([header.line] + items.map(\.line)).map { $0 + "\n" }.joined() }
    var bytes: [UInt8] { Array(text.utf8) }
    var name: String { (try? Recording.fileName(model: "virtual", of: bytes)) ?? "" }

    var outcomes: [Recording.Outcome] {
        items.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
    }
}
