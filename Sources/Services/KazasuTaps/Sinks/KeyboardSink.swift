// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Glibc
internal import Synchronization

/// How keys are arranged. Key codes name keys, not characters: the user's session turns them into characters.
package enum KeyboardLayout: String, CaseIterable, Sendable {
    case us, jp, de, fr
    /// The numeric keypad, the same everywhere; the tag is typed as a decimal number.
    case keypad

    /// A key and whether it needs Shift.
    struct Stroke: Hashable, Sendable {
        var key: UInt16
        var shift = false
    }

    /// KEY_ENTER or KEY_KPENTER.
    var enter: UInt16 { self == .keypad ? 96 : 28 }

    /// The keys for a tag (lower-case hexadecimal), or nothing if it is not one.
    func strokes(for tag: String) -> [Stroke] {
        guard let bytes = try? Hex.decode(tag), bytes.count <= 16 else { return [] }
        let text = self == .keypad ? Self.decimal(bytes) : Hex.encode(bytes)
        return text.utf8.compactMap { stroke($0) } + [Stroke(key: enter)]
    }

    private func stroke(_ character: UInt8) -> Stroke? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            let digit = Int(character - UInt8(ascii: "0"))
            // KEY_KP0…KEY_KP9; KEY_0 follows KEY_9.
            let keypad: [UInt16] = [82, 79, 80, 81, 75, 76, 77, 71, 72, 73]
            if self == .keypad { return Stroke(key: keypad[digit]) }
            return Stroke(key: digit == 0 ? 11 : UInt16(digit + 1), shift: self == .fr)
        case UInt8(ascii: "a")...UInt8(ascii: "f"):
            // KEY_A…KEY_F; on AZERTY, a is where others have q.
            let letters: [UInt16] = [self == .fr ? 16 : 30, 48, 46, 32, 18, 33]
            return Stroke(key: letters[Int(character - UInt8(ascii: "a"))])
        default: return nil
        }
    }

    /// A big-endian number of at most 16 bytes, which is the longest tag, in decimal digits.
    static func decimal(_ bytes: [UInt8]) -> String { "\(bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })" }
}

/// `--keyboard LAYOUT`: types the tag of each card, and Enter, as a keyboard that uinput makes.
package final class KeyboardSink: Sink {
    package let name: String
    package let window = 1

    /// Older taps are not typed: the focus may be in another text field by now.
    private static let newest = 10_000

    private let layout: KeyboardLayout
    private let clock: EventClock
    private let device: Device

    /// Makes the keyboard.
    ///
    /// - Throws: `Errno`'s number, if `/dev/uinput` cannot be used.
    package convenience init(_ layout: KeyboardLayout, clock: EventClock = .system) throws(KeyboardError) {
        self.init(layout, device: try Device.make(layout), clock: clock)
    }

    /// A keyboard behind an open file, for tests.
    package convenience init(_ layout: KeyboardLayout, descriptor: Int32, clock: EventClock) {
        self.init(layout, device: Device(descriptor), clock: clock)
    }

    private init(_ layout: KeyboardLayout, device: Device, clock: EventClock) {
        (self.layout, self.device, self.clock) = (layout, device, clock)
        name = "keyboard:" + layout.rawValue
    }

    package func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
        events.map { event in
            guard case .on(let card, _) = event.kind, let tag = card.tag,
                clock.now().wall - event.moment.milliseconds <= Self.newest
            else {
                return .delivered
            }
            return device.type(layout.strokes(for: tag)) ? .delivered : .dead("errno\(errno)")
        }
    }

    package func close() async {}

    /// Why there is no keyboard.
    package struct KeyboardError: Error, Hashable, Sendable {
        package var errno: Int32
    }

    /// The open device of uinput.
    private final class Device: Sendable {
        // linux/uinput.h and linux/input-event-codes.h
        private static let (setEventBit, setKeyBit): (UInt, UInt) = (0x4004_5564, 0x4004_5565)
        private static let (setUp, create, destroy): (UInt, UInt, UInt) = (0x405C_5503, 0x5501, 0x5502)
        private static let key: UInt16 = 1
        private static let leftShift: UInt16 = 42

        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        static func make(_ layout: KeyboardLayout) throws(KeyboardError) -> Device {
            let file = unsafe open("/dev/uinput", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { throw KeyboardError(errno: errno) }
            let device = Device(file)
            let letters = "0123456789abcdef".flatMap { layout.strokes(for: "0\($0)") }.map(\.key)
            var failed = ioctl(file, setEventBit, Int32(key)) < 0
            for code in Set(letters).union([leftShift]) { failed = ioctl(file, setKeyBit, Int32(code)) < 0 || failed }
            // struct uinput_setup: bus (USB), vendor, product and version, 80 bytes of name, and a number of effects.
            var setup = [UInt8](repeating: 0, count: 92)
            setup[0] = 3
            for (index, byte) in "Kazasu".utf8.enumerated() { setup[8 + index] = byte }
            failed = unsafe ioctl(file, setUp, &setup) < 0 || failed
            failed = ioctl(file, create, 0) < 0 || failed
            guard !failed else { throw KeyboardError(errno: errno) }
            // The session needs a moment to notice a new keyboard; keys before that are lost.
            poll(nil, 0, 500)
            return device
        }

        func type(_ strokes: [KeyboardLayout.Stroke]) -> Bool {
            strokes.allSatisfy { stroke in
                (!stroke.shift || send(Self.leftShift, 1)) && send(stroke.key, 1) && send(stroke.key, 0)
                    && (!stroke.shift || send(Self.leftShift, 0))
            }
        }

        /// Presses or releases a key: struct input_event with the time left to the kernel, and a report.
        private func send(_ code: UInt16, _ value: UInt8) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 48)
            bytes[16] = UInt8(Self.key)
            bytes[18] = UInt8(code & 0xFF)
            bytes[19] = UInt8(code >> 8)
            bytes[20] = value
            return unsafe write(descriptor, bytes, bytes.count) == bytes.count
        }

        deinit {
            _ = ioctl(descriptor, Self.destroy, 0)
            Glibc.close(descriptor)
        }
    }
}
