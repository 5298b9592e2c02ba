// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu

/// What people give in place of a reader's ID: the name that is printed on it, or its device file.
enum ReaderName {
    /// How to name the reader that was probably meant; `nil` if the text resembles none.
    package static func hint(for text: String) -> String? {
        if let port = serialPort(text) { return guess("pn532_uart:\(port)") }
        let name = letters(text)
        // Short words are parts of many names.
        guard name.count >= 4 else { return nil }
        let model = ReaderModel.all.first { letters($0.name).contains(name) }
        guard let model else { return NearestName.of(text, among: drivers).map(guess) }
        switch model.driver {
        case let driver? where drivers.contains(driver): return guess(driver)
        case nil: return model.obstacle.map { "\(model.name): \($0[Language.current])" }
        default:
            let connected = ListedReader.all().first { $0.readerID != nil && letters($0.name ?? "").contains(name) }
            return connected?.readerID.map(guess)
                ?? tr(
                    "when it is connected, \(Caller.current.command("readers")) shows the ID of the \(model.name)",
                    "接続すると、\(model.name) の ID が \(Caller.current.command("readers")) に表示されます")
        }
    }

    /// The drivers whose names alone are IDs.
    private static let drivers = ["rcs380", "rcs300", "rcs320", "rcs310"]

    private static func guess(_ id: String) -> String { Remedy.didYouMean.text(id) }

    /// A device file of a serial port, with or without its folder.
    private static func serialPort(_ text: String) -> String? {
        let name = text.hasPrefix("/dev/") ? text : "/dev/\(text)"
        return name.hasPrefix("/dev/tty") || name.hasPrefix("/dev/serial") ? name : nil
    }

    /// Small letters and digits alone: `rcs380` for `RC-S380`.
    private static func letters(_ text: String) -> String {
        text.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
