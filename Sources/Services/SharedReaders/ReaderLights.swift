// SPDX-License-Identifier: Apache-2.0

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
    }

    /// Why an answer could not be shown.
    package enum Failure: Error, Hashable, Sendable {
        /// The reader has no lights that a program can set.
        case noLights
        case reader(KazasuError)
        /// The file of a light, and `errno`.
        case led(path: String, errno: Int32)
    }

    /// How long an answer is shown.
    package static let time = Duration.seconds(1)

    private let readers: SharedReaders
    private let outputs: [Output]
    private let tell: @Sendable (_ reader: String, Failure) -> Void
    private let sleep: @Sendable (Duration) async -> Void
    /// How many answers each reader has shown.
    private let shown = Mutex<[String: Int]>([:])

    /// - Parameters:
    ///   - tell: called from any thread when an answer could not be shown.
    ///   - sleep: waits until an answer was shown long enough; tests replace it.
    package init(
        _ readers: SharedReaders, _ outputs: [Output],
        tell: @escaping @Sendable (_ reader: String, Failure) -> Void,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) {
        (self.readers, self.outputs, self.tell, self.sleep) = (readers, outputs, tell, sleep)
    }

    /// Shows an answer for a second, or until the next one at this reader.
    package func show(_ signal: ReaderSignal, at reader: String) async {
        let number = shown.withLock { shown in
            shown[reader, default: 0] += 1
            return shown[reader]
        }
        await set(signal, at: reader, telling: true)
        await sleep(Self.time)
        guard shown.withLock({ $0[reader] == number }) else { return }
        await set(.off, at: reader, telling: false)
    }

    private func set(_ signal: ReaderSignal, at reader: String, telling: Bool) async {
        // The computer's own lights take no time.
        for case .leds(let lights) in outputs {
            do throws(LEDLights.Failure) {
                try lights.show(signal)
            } catch {
                if telling { tell(reader, .led(path: error.path, errno: error.number)) }
            }
        }
        guard outputs.contains(.reader) else { return }
        do throws(KazasuError) {
            if try await !readers.show(signal, at: reader), telling { tell(reader, .noLights) }
        } catch {
            if telling { tell(reader, .reader(error)) }
        }
    }
}

extension SharedReaders {
    /// Shows a signal at a reader, as soon as nobody else uses it.
    ///
    /// - Parameter reader: its name or ID; by default as in ``run(on:timeout:_:)``.
    /// - Returns: `false` if it has no lights that a program can set.
    /// - Throws: ``KazasuError``.
    package func show(_ signal: ReaderSignal, at reader: String?) async throws(KazasuError) -> Bool {
        let result: Result<Bool, KazasuError> = try await run(on: reader, timeout: .zero) { turn in
            .done(turn.result { () throws(TransportError) in try turn.reader.show(signal) })
        }
        return try result.get()
    }
}
