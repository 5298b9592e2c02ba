// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import ReaderCore
internal import Synchronization

/// A line of a GPIO chip.
package struct GPIOLine: Hashable, Sendable {
    /// The chip's character device, such as `/dev/gpiochip0`.
    package let chip: String
    /// Its number within the chip.
    package let offset: UInt32

    package init(chip: String, offset: UInt32) { (self.chip, self.offset) = (chip, offset) }
}

/// A green and a red light, or two relays, at lines of a GPIO chip, such as pins of a Raspberry Pi.
package struct GPIOLights: Hashable, Sendable {
    package let green: GPIOLine
    package let red: GPIOLine

    /// The lines of both.
    package var lines: [GPIOLine] { [green, red] }
}

extension GPIOLights {
    /// - Parameters:
    ///   - chip: a name in `/dev`, or a path.
    ///   - green: the green light's line.
    ///   - red: the red one's.
    /// - Returns: `nil` for a chip that can have no such name, and for the same line twice.
    package init?(chip: String, green: UInt32, red: UInt32) {
        guard !chip.isEmpty, !chip.utf8.contains(0), green != red else { return nil }
        let path = chip.utf8.first == 0x2F ? chip : "/dev/\(chip)"
        guard path == chip || !chip.utf8.contains(0x2F) && !chip.hasPrefix(".") else { return nil }
        (self.green, self.red) = (GPIOLine(chip: path, offset: green), GPIOLine(chip: path, offset: red))
    }
}

/// How lines of GPIO chips are requested and set. A descriptor holds a line until it is closed.
package protocol GPIOSystem: Sendable {
    /// Requests a line as an output that is off.
    ///
    /// - Returns: the descriptor that holds it.
    func request(_ line: GPIOLine) throws(GPIOLines.Failure) -> Int32

    /// Sets the line of a descriptor.
    ///
    /// - Returns: 0, or `errno`.
    func set(_ descriptor: Int32, _ isOn: Bool) -> Int32

    /// Closes a descriptor.
    func release(_ descriptor: Int32)
}

/// The GPIO character device of Linux, in the version that it has had since 5.10.
///
/// Source: `linux/gpio.h`.
package struct LinuxGPIO: GPIOSystem {
    package init() {}

    package func request(_ line: GPIOLine) throws(GPIOLines.Failure) -> Int32 {
        // Not to wait, should it be another kind of file.
        let chip = unsafe open(line.chip, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard chip >= 0 else { throw GPIOLines.Failure(line: line, number: errno) }
        let descriptor = kazasu_gpio_output(chip, line.offset)
        let number = errno
        close(chip)
        guard descriptor >= 0 else { throw GPIOLines.Failure(line: line, number: number) }
        return descriptor
    }

    package func set(_ descriptor: Int32, _ isOn: Bool) -> Int32 {
        kazasu_gpio_set(descriptor, isOn ? 1 : 0) == 0 ? 0 : errno
    }

    package func release(_ descriptor: Int32) { close(descriptor) }
}

/// The lines that a program holds. Nobody else may use them meanwhile, and they lose their state when they are given up.
package final class GPIOLines: Sendable {
    /// Why a line cannot be used.
    package struct Failure: Error, Hashable, Sendable {
        package let line: GPIOLine
        /// `errno`.
        package let number: Int32

        package init(line: GPIOLine, number: Int32) { (self.line, self.number) = (line, number) }
    }

    private enum Hold {
        case held(Int32)
        /// Its chip is gone, or failed: it is requested again for the next answer.
        case lost
    }

    private let system: any GPIOSystem
    private let holds = Mutex<[GPIOLine: Hold]>([:])

    package init(_ system: any GPIOSystem = LinuxGPIO()) { self.system = system }

    deinit { close() }

    /// Requests the lines of lights, except those that are held already.
    ///
    /// - Throws: ``Failure`` if one of them cannot be had; then none of them is held that was not before.
    package func request(_ lights: [GPIOLights]) throws(Failure) {
        let failure: Failure? = holds.withLock { holds in
            var new: [GPIOLine: Int32] = [:]
            for line in lights.flatMap(\.lines) where holds[line] == nil && new[line] == nil {
                do throws(Failure) {
                    new[line] = try system.request(line)
                } catch {
                    new.values.forEach(system.release)
                    return error
                }
            }
            for (line, descriptor) in new { holds[line] = .held(descriptor) }
            return nil
        }
        if let failure { throw failure }
    }

    /// Gives up all lines but those of these lights; they are off first.
    package func keep(_ lights: [GPIOLights]) {
        let kept = Set(lights.flatMap(\.lines))
        holds.withLock { holds in
            for (line, hold) in holds where !kept.contains(line) {
                if case .held(let descriptor) = hold {
                    _ = system.set(descriptor, false)
                    system.release(descriptor)
                }
                holds[line] = nil
            }
        }
    }

    /// Gives up all lines; they are off first.
    package func close() { keep([]) }

    /// Sets both lights. A fault is both together. Lights whose lines were given up stay as they are.
    package func show(_ signal: ReaderSignal, _ lights: GPIOLights) throws(Failure) {
        // The one that goes off first: green and red together would be a fault.
        let (isGreen, isRed) = (signal == .yes || signal == .fault, signal == .no || signal == .fault)
        let (green, red) = ((lights.green, isGreen), (lights.red, isRed))
        for (line, isOn) in isGreen ? [red, green] : [green, red] { try set(line, isOn) }
    }

    private func set(_ line: GPIOLine, _ isOn: Bool) throws(Failure) {
        let failure: Failure? = holds.withLock { holds in
            guard let hold = holds[line] else { return nil }
            if case .held(let descriptor) = hold {
                if system.set(descriptor, isOn) == 0 { return nil }
                // An adapter that was plugged in again is another chip, of the same name only if nothing holds the old one.
                for (other, hold) in holds where other.chip == line.chip {
                    if case .held(let descriptor) = hold { system.release(descriptor) }
                    holds[other] = .lost
                }
            }
            do throws(Failure) {
                let descriptor = try system.request(line)
                let number = system.set(descriptor, isOn)
                guard number != 0 else {
                    holds[line] = .held(descriptor)
                    return nil
                }
                system.release(descriptor)
                return Failure(line: line, number: number)
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }
}
