// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import Kazasu
package import ReaderCore
internal import Synchronization
package import SystemDevices

/// Shows answers to the people before readers: at the reader itself, or by lights of this computer.
package final class ReaderLights: Sendable {
    /// Where answers are shown.
    package enum Output: Hashable, Sendable {
        /// The reader's own lights and buzzer.
        case reader
        /// Two lights of the kernel's LED class.
        case leds(LEDLights)
        /// Two lines of a GPIO chip.
        case lines(GPIOLights)
    }

    /// Why an answer could not be shown.
    package enum Failure: Error, Hashable, Sendable {
        /// The reader has no lights that a program can set.
        case noLights
        case reader(KazasuError)
        /// The file of a light, and `errno`.
        case led(path: String, errno: Int32)
        case line(GPIOLines.Failure)
    }

    /// How long an answer is shown.
    package static let time = Duration.seconds(1)

    private let readers: SharedReaders
    private let outputs: [Output]
    private let lines: GPIOLines
    private let tell: @Sendable (_ reader: String, Failure) -> Void
    private let sleep: @Sendable (Duration) async -> Void
    /// Sets the computer's own lights, one answer after another: an adapter on a bus takes its time.
    private let setting = DispatchQueue(label: "lights")
    private let shown = Mutex(Shown())

    /// How many answers were shown: the computer's own lights belong to all readers.
    private struct Shown {
        var byReader: [String: Int] = [:]
        var all = 0
    }

    /// - Parameters:
    ///   - lines: holds the lines of GPIO chips; others are not set.
    ///   - tell: called from any thread when an answer could not be shown.
    ///   - sleep: waits until an answer was shown long enough; tests replace it.
    package init(
        _ readers: SharedReaders, _ outputs: [Output], lines: GPIOLines = GPIOLines(),
        tell: @escaping @Sendable (_ reader: String, Failure) -> Void,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        (self.readers, self.outputs, self.lines, self.tell, self.sleep) = (readers, outputs, lines, tell, sleep)
    }

    /// Shows an answer for a second, or until the next one: at the reader, that of this reader; at the computer's lights, that
    /// of any.
    ///
    /// - Parameter isCurrent: asked when an output is free, which may take a while: an answer that is old by then is not shown.
    package func show(
        _ signal: ReaderSignal, at reader: String, while isCurrent: @escaping @Sendable () -> Bool = { true }
    ) async {
        let numbers = shown.withLock { shown in
            shown.byReader[reader, default: 0] += 1
            shown.all += 1
            return (shown.byReader[reader], shown.all)
        }
        await set(signal, at: reader, telling: true, while: isCurrent)
        await sleep(Self.time)
        let (isLast, isLastOfAll) = shown.withLock { ($0.byReader[reader] == numbers.0, $0.all == numbers.1) }
        // Also when the task was cancelled: no light stays on.
        await Task {
            await set(.off, at: reader, reader: isLast, computer: isLastOfAll, telling: false)
        }.value
    }

    private func set(
        _ signal: ReaderSignal, at name: String, reader: Bool = true, computer: Bool = true, telling: Bool,
        while isCurrent: @escaping @Sendable () -> Bool = { true }
    ) async {
        // Neither waits for the other: a reader may be busy with a card, and an adapter may hang.
        async let own: Void = setReader(signal, name, reader, telling: telling, while: isCurrent)
        if computer { await setComputer(signal, name, telling: telling, while: isCurrent) }
        await own
    }

    private func setReader(
        _ signal: ReaderSignal, _ name: String, _ isWanted: Bool, telling: Bool,
        while isCurrent: @escaping @Sendable () -> Bool
    ) async {
        guard isWanted, outputs.contains(.reader) else { return }
        do throws(KazasuError) {
            if try await !readers.show(signal, at: name, while: isCurrent), telling { tell(name, .noLights) }
        } catch {
            if telling { tell(name, .reader(error)) }
        }
    }

    private func setComputer(
        _ signal: ReaderSignal, _ name: String, telling: Bool, while isCurrent: @escaping @Sendable () -> Bool
    ) async {
        guard outputs.contains(where: { $0 != .reader }) else { return }
        let failures: [Failure] = await withCheckedContinuation { continuation in
            setting.async { continuation.resume(returning: isCurrent() ? self.failures(setting: signal) : []) }
        }
        if telling { for failure in failures { tell(name, failure) } }
    }

    /// Sets the computer's own lights; those that can be set are, whatever the others do.
    private func failures(setting signal: ReaderSignal) -> [Failure] {
        outputs.compactMap { output in
            switch output {
            case .reader: break
            case .leds(let lights):
                do throws(LEDLights.Failure) {
                    try lights.show(signal)
                } catch {
                    return .led(path: error.path, errno: error.number)
                }
            case .lines(let lights):
                do throws(GPIOLines.Failure) {
                    try lines.show(signal, lights)
                } catch {
                    return .line(error)
                }
            }
            return nil
        }
    }
}

extension SharedReaders {
    /// Shows a signal at a reader, as soon as nobody else uses it.
    ///
    /// - Parameters:
    ///   - reader: its name or ID; by default as in ``run(on:timeout:_:)``.
    ///   - isCurrent: asked when the reader is free; `false` leaves its lights as they are.
    /// - Returns: `false` if it has no lights that a program can set.
    /// - Throws: ``KazasuError``.
    package func show(
        _ signal: ReaderSignal, at reader: String?, while isCurrent: @escaping @Sendable () -> Bool = { true }
    ) async throws(KazasuError) -> Bool {
        let result: Result<Bool, KazasuError> = try await run(on: reader, timeout: .zero) { turn in
            guard isCurrent() else { return .done(.success(true)) }
            return .done(turn.result { () throws(TransportError) in try turn.reader.show(signal) })
        }
        return try result.get()
    }
}
