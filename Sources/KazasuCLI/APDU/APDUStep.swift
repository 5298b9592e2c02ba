// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816

/// One command APDU of a list or script, and the status words that are expected.
struct APDUStep: Equatable, Sendable {
    /// What messages call it: its number, or its line.
    var label: String
    var action: Action
    /// The status words that let the next step come; any when there are none.
    var expected: [StatusPattern]

    /// What is to be done.
    enum Action: Equatable, Sendable {
        case send(CommandAPDU)
        /// VERIFY without data: how many tries are left.
        case tries(PINReference)
        /// VERIFY with PIN 1 or 2, by the guard.
        case verify(PINReference, pin: Int)
    }

    /// What is wrong with a text, for people.
    struct Fault: Error, Equatable {
        var text: String
    }

    /// Reads `HEX`, `HEX => SW …` or, for VERIFY, `HEADER PIN1`.
    ///
    /// - Throws: ``Fault`` without what stands there, which may be a PIN; ``Failure`` for a PIN command that is never
    ///   sent.
    init(_ text: some StringProtocol, label: String) throws {
        self.label = label
        let sides = String(text).split(separator: "=>", omittingEmptySubsequences: false)
        guard sides.count <= 2, let command = sides.first else {
            throw Fault(text: tr("=> stands twice", "=> が 2 つあります"))
        }
        expected = try sides.dropFirst().flatMap { side throws(Fault) in try APDUStep.patterns(side) }
        action = try APDUStep.action(String(command).uppercased())
    }

    private static func patterns(_ text: Substring) throws(Fault) -> [StatusPattern] {
        let words = text.split { $0 == " " || $0 == "\t" || $0 == "|" || $0 == "," }
        var patterns: [StatusPattern] = []
        for word in words {
            guard let pattern = StatusPattern(word) else {
                throw Fault(
                    text: tr("a status word is four hexadecimal digits or x", "ステータスワードは 16 進または x の 4 桁です"))
            }
            patterns.append(pattern)
        }
        guard !patterns.isEmpty else { throw Fault(text: tr("no status word after =>", "=> の後にステータスワードがありません")) }
        return patterns
    }

    private static func action(_ text: String) throws -> Action {
        let marks = [("PIN1", 1), ("PIN2", 2), ("PIN", 1)]
        let trimmed = text.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        let mark = marks.first { trimmed.hasSuffix($0.0) }
        guard let bytes = try? Hex.decode(trimmed.dropLast(mark?.0.utf8.count ?? 0)) else {
            throw Fault(text: tr("it is not hexadecimal", "16進ではありません"))
        }
        if let mark {
            guard bytes.count == 4, bytes[1] == Instruction.verify.rawValue else {
                throw Fault(text: tr("PIN stands after CLA 20 P1 P2 only", "PIN は CLA 20 P1 P2 の後だけに書けます"))
            }
            return .verify(try reference(bytes, mark.1), pin: mark.1)
        }
        guard let command = try? CommandAPDU(decoding: bytes) else {
            throw Fault(text: tr("it is no command APDU: its lengths do not fit", "コマンドAPDUとして長さが合いません"))
        }
        guard !command.cla.maySmuggle(command.ins) else { throw Failure.forReader() }
        guard command.ins.needsGuard else { return .send(command) }
        guard command.ins == .verify, command.data.isEmpty, command.ne == 0 else {
            throw Failure.guarded(command.ins)
        }
        return .tries(try reference(bytes, 1))
    }

    private static func reference(_ header: [UInt8], _ number: Int) throws(Fault) -> PINReference {
        guard header.count == 4, header[2] == 0 else {
            throw Fault(text: tr("P1 of VERIFY is 00", "VERIFY の P1 は 00 です"))
        }
        return PINReference(
            APDUStep.name(number), p2: header[3], form: .printable(4...16), cla: ClassByte(rawValue: header[0]))
    }

    /// What people call a PIN.
    static func name(_ number: Int) -> LocalizedText { LocalizedText("PIN \(number)", "暗証番号\(number)") }
}
