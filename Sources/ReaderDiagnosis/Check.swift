// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One thing that was looked at, what was found, and what mends it.
public struct Check: Hashable, Sendable {
    /// What was looked at.
    public enum Layer: String, Hashable, Sendable, CaseIterable {
        /// Whether a reader is plugged in.
        case bus
        /// Whether Kazasu has a driver for it.
        case model
        /// Whether the user may open it.
        case permission
        /// Whether a kernel driver has it.
        case kernelDriver
        /// Whether another program has it.
        case process
        /// Whether pcscd can be used, for readers that need it.
        case service
        /// Whether its firmware has known faults.
        case firmware
        /// libnfc's configuration files, and the environment.
        case configuration
        /// Serial ports.
        case serialPort
        /// The system: a real one, a container, Windows' Linux.
        case host
        /// Whether the reader that was named answers.
        case reader
    }

    /// How bad it is.
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// Worth knowing.
        case note
        /// Works, but not as well as it could, or may mislead.
        case warning
        /// The reader cannot be used because of it.
        case fault
    }

    /// What was found.
    public let code: Code
    /// What stands for `{0}`, `{1}` and so on.
    let values: [LocalizedText]
    private let row: CheckRow

    /// Something that was found.
    public init(_ code: Code, _ values: [LocalizedText]) {
        self.code = code
        self.values = values
        row = CheckRow.of(code)
    }

    /// Something that was found.
    public init(_ code: Code, _ values: String...) {
        self.init(code, values.map { LocalizedText($0, $0) })
    }

    /// What was looked at.
    public var layer: Layer { row.layer }
    /// How bad it is.
    public var verdict: Verdict { row.verdict }
    /// What was found, as a sentence without its full stop.
    public var message: LocalizedText { filled(row.message) }
    /// What mends it; `nil` when nothing has to be mended.
    public var remedy: LocalizedText? { row.remedy.map(filled) }

    private func filled(_ text: LocalizedText) -> LocalizedText {
        var (english, japanese) = (text.english, text.japanese)
        for (place, value) in values.enumerated() {
            english = english.replacing("{\(place)}", with: value.english)
            japanese = japanese.replacing("{\(place)}", with: value.japanese)
        }
        return LocalizedText(english, japanese)
    }
}
