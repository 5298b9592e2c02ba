// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import ReaderCore
import Server
import SharedReaders

/// `reader.feedback`: lights and buzzer of a reader. It is not a command of the program, which would close the reader again.
enum ReaderFeedback {
    static let method = ServiceMethod(
        "reader.feedback", ServiceMethod.Route(.post, "/v1/feedback"), permission: .feedback,
        parameters: [
            ServiceMethod.Parameter(
                "pattern", .text, isRequired: true, values: ReaderSignal.allCases.map(\.rawValue),
                LocalizedText(
                    "What to show: yes (green), no (red), fault (both), or off.",
                    "示すもの: yes（緑）、no（赤）、fault（両方）、off（消灯）。")),
            CommandParameters.reader,
        ], schema: "kazasu.feedback/1",
        LocalizedText(
            "Answers at a reader, by its lights and its buzzer: yes, no, fault or nothing.",
            "リーダーのランプとブザーで応答を示す: yes、no、fault、消灯。"))

    /// What a request asks for.
    struct Request {
        private(set) var reader: String?
        private(set) var signal = ReaderSignal.off

        /// - Parameter isLocal: whether the process that started Kazasu asks.
        init(_ params: JSONObject, isLocal: Bool) throws(CommandError) {
            var pattern: ReaderSignal?
            for member in params.members where member.value != .null {
                guard case .string(let text) = member.value else { throw Self.bad(member.key) }
                switch member.key {
                case "pattern":
                    guard let signal = ReaderSignal(rawValue: text) else { throw Self.bad(member.key) }
                    pattern = signal
                case "reader":
                    guard isLocal || !ReaderRegistry.isSimulated(text) else { throw Self.bad(member.key) }
                    reader = text
                default: throw Self.bad(member.key)
                }
            }
            guard let pattern else { throw Self.bad("pattern") }
            signal = pattern
        }

        private static func bad(_ name: String) -> CommandError {
            let list = ReaderSignal.allCases.map(\.rawValue).joined(separator: tr(", ", "、"))
            return CommandError(.feedbackParameter, values: [name, list])
        }

        /// The result of the method.
        var document: JSONValue {
            ["schema": "kazasu.feedback/1", "reader": .text(reader), "pattern": .string(signal.rawValue)]
        }
    }

    /// The reader has no lights that a program can set.
    static var noFeedback: CommandError {
        CommandError(.feedbackNone)
    }
}
