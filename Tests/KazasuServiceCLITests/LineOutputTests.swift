// SPDX-License-Identifier: Apache-2.0

import Dispatch
import KazasuCLI
import Synchronization
import Testing

@testable import KazasuServiceCLI

@Suite("Lines on standard output")
struct LineOutputTests {
    @Test("They are written in order, and in no task: a reader that pauses must not hold up other tasks")
    func order() {
        let written = Mutex<[(line: [UInt8], isInTask: Bool)]>([])
        let output = LineOutput { line throws(CommandError) in
            let isInTask = withUnsafeCurrentTask { $0 != nil }
            written.withLock { $0.append((line, isInTask)) }
        }
        for number in UInt8(0)..<100 { output.write([number]) }
        output.finish()
        #expect(written.withLock { $0.map(\.line) } == (UInt8(0)..<100).map { [$0] })
        #expect(written.withLock { $0.allSatisfy { !$0.isInTask } })
        #expect(output.error == nil)
    }

    @Test("While nobody reads them, memory is limited: lines are dropped, which is said, and later ones come again")
    func losses() {
        let gate = DispatchSemaphore(value: 0)
        let isBlocked = Mutex(true)
        let written = Mutex(0)
        let output = LineOutput { line throws(CommandError) in
            if isBlocked.withLock({ $0 }) { gate.wait() }
            written.withLock { $0 += line.count }
        }
        let losses = Mutex<[LineOutput.Loss]>([])
        output.whenLost { loss in losses.withLock { $0.append(loss) } }
        let line = [UInt8](repeating: 0x61, count: 1 << 20)
        for _ in 0..<40 { output.write(line) }
        #expect(losses.withLock { $0 } == [.begins])
        isBlocked.withLock { $0 = false }
        gate.signal()
        output.finish()
        #expect(written.withLock { $0 } == 32 << 20)
        output.write([0x61])
        output.finish()
        #expect(losses.withLock { $0 } == [.begins, .ends(count: 8)])
        #expect(written.withLock { $0 } == (32 << 20) + 1)
    }

    @Test("After a failure, which is reported once, nothing more is written")
    func failure() {
        let written = Mutex(0)
        let failures = Mutex(0)
        let output = LineOutput { _ throws(CommandError) in
            written.withLock { $0 += 1 }
            throw .brokenPipe
        }
        output.whenFailed { _ in failures.withLock { $0 += 1 } }
        for number in UInt8(0)..<3 { output.write([number]) }
        output.finish()
        #expect((written.withLock { $0 }, failures.withLock { $0 }) == (1, 1))
        #expect(output.error != nil)
    }
}
