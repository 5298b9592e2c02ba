// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import ReaderCore

/// A green and a red light of the kernel's LED class, such as two at pins of a Raspberry Pi: `dtoverlay=gpio-led`.
///
/// A light stays as it was set when the program ends, unless `LightGuard` watches it. Source: the kernel's `Documentation/ABI/testing/sysfs-class-led`.
package struct LEDLights: Hashable, Sendable {
    /// Why a light could not be set.
    package struct Failure: Error, Hashable, Sendable {
        /// The light's file.
        package let path: String
        /// `errno`.
        package let number: Int32

        package init(path: String, number: Int32) { (self.path, self.number) = (path, number) }
    }

    /// The files of the lights.
    private let green: String
    private let red: String

    /// Both.
    package var files: [String] { [green, red] }

    /// - Parameters:
    ///   - green: the name of the light in `/sys/class/leds`.
    ///   - red: that of the other one.
    ///   - root: what is before `/sys`; not empty in tests.
    /// - Returns: `nil` for a name that would be another file.
    package init?(green: String, red: String, root: String = "") {
        let folder = "\(root)/sys/class/leds"
        guard [green, red].allSatisfy(Self.isName) else { return nil }
        (self.green, self.red) = ("\(folder)/\(green)/brightness", "\(folder)/\(red)/brightness")
    }

    /// Sets both lights. A fault is both together.
    package func show(_ signal: ReaderSignal) throws(Failure) {
        // The one that goes off first: green and red together would be a fault.
        let (isGreen, isRed) = (signal == .yes || signal == .fault, signal == .no || signal == .fault)
        for (path, isOn) in isGreen ? [(red, isRed), (green, isGreen)] : [(green, isGreen), (red, isRed)] {
            try Self.set(path, isOn)
        }
    }

    /// Why one of them cannot be set now; `nil` if both can.
    package var obstacle: Failure? {
        for path in [green, red] where unsafe access(path, W_OK) != 0 { return Failure(path: path, number: errno) }
        return nil
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(".") && !text.utf8.contains(0x2F) && !text.utf8.contains(0)
    }

    /// Any brightness but 0 is on; a light that can be dimmed says what is its brightest.
    private static func set(_ path: String, _ isOn: Bool) throws(Failure) {
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
        guard file >= 0 else { throw Failure(path: path, number: errno) }
        defer { close(file) }
        let most = Directory.line(of: path.dropLast("brightness".count) + "max_brightness").flatMap { Int($0) }
        let text = Array("\(isOn ? max(1, most ?? 1) : 0)".utf8)
        guard unsafe write(file, text, text.count) == text.count else { throw Failure(path: path, number: errno) }
    }
}
