// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import ByteCodec
import Glibc
package import Kazasu

/// The APDUs of one run, in order.
package struct APDUScript: Equatable, Sendable {
    package var steps: [APDUStep]

    /// Reads the arguments of the command: APDUs, or one file or `-`.
    ///
    /// - Throws: `ValidationError` for an argument that is not an APDU, ``CommandError`` for a file.
    package init(arguments: [String]) throws {
        if APDUScript.isFile(arguments) {
            self = try APDUScript(path: arguments[0])
            return
        }
        steps = []
        for (index, argument) in arguments.enumerated() {
            let label = tr("APDU \(index + 1)", "APDU \(index + 1)")
            do {
                steps.append(try APDUStep(argument, label: label))
            } catch let fault as APDUStep.ParseError {
                throw ValidationError("\(label): \(fault.text)")
            }
        }
    }

    /// Reads a script: one APDU per line; `#` begins a comment.
    package init(path: String) throws {
        steps = []
        let bytes = try Files.read(path, limit: 1 << 20)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let label = tr("line \(index + 1)", "\(index + 1) 行目")
            let code = line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 != UInt8(ascii: "\r") }
            guard code.contains(where: { $0 > 0x20 }) else { continue }
            do {
                steps.append(try APDUStep(String(decoding: code, as: UTF8.self), label: label))
            } catch let fault as APDUStep.ParseError {
                throw CommandError(.scriptLine, "\(Files.name(path)): \(label): \(fault.text)")
            }
        }
        guard !steps.isEmpty else {
            throw CommandError(.scriptEmpty, values: [Files.name(path)])
        }
    }

    /// The PINs to verify, by their numbers, each with the reference that it is sent to first.
    package var pins: [Int: PINReference] {
        Dictionary(
            steps.compactMap { step in
                if case .verify(let reference, let number) = step.action { (number, reference) } else { nil }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the arguments of the command are one file, or `-`.
    package static func isFile(_ arguments: [String]) -> Bool {
        guard CommandHost.current == nil, let path = arguments.first, arguments.count == 1 else { return false }
        var status = stat()
        return path == "-" || stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }
}

/// One command APDU of a list or script, and the expected status words.
package struct APDUStep: Equatable, Sendable {
    /// The step's name in messages: its number, or its line.
    package var label: String
    package var action: Action
    /// The status words that let the next step run; any when there are none.
    package var expected: [StatusPattern]

    /// The action of a step.
    package enum Action: Equatable, Sendable {
        case send(CommandAPDU)
        /// VERIFY without data: how many tries are left.
        case tries(PINReference)
        /// VERIFY with PIN 1 or 2, sent by the guard.
        case verify(PINReference, pin: Int)
    }

    /// The fault in a text, for display.
    struct ParseError: Error, Equatable {
        package var text: String
    }

    /// Reads `HEX`, `HEX => SW …` or, for VERIFY, `HEADER PIN1`.
    ///
    /// - Throws: ``ParseError`` without the text, which may hold a PIN; ``CommandError`` for a PIN command that is
    ///   never sent.
    package init(_ text: some StringProtocol, label: String) throws {
        self.label = label
        let sides = String(text).split(separator: "=>", omittingEmptySubsequences: false)
        guard sides.count <= 2, let command = sides.first else {
            throw ParseError(text: tr("=> appears twice", "=> が 2 つあります"))
        }
        expected = try sides.dropFirst().flatMap { side throws(ParseError) in try APDUStep.patterns(side) }
        action = try APDUStep.action(String(command).uppercased())
    }

    private static func patterns(_ text: Substring) throws(ParseError) -> [StatusPattern] {
        let words = text.split { $0 == " " || $0 == "\t" || $0 == "|" || $0 == "," }
        var patterns: [StatusPattern] = []
        for word in words {
            guard let pattern = StatusPattern(word) else {
                throw ParseError(
                    text: tr("a status word is four hexadecimal digits or x", "ステータスワードは 16 進または x の 4 桁です"))
            }
            patterns.append(pattern)
        }
        guard !patterns.isEmpty else { throw ParseError(text: tr("no status word after =>", "=> の後にステータスワードがありません")) }
        return patterns
    }

    private static func action(_ text: String) throws -> Action {
        let marks = [("PIN1", 1), ("PIN2", 2), ("PIN", 1)]
        let trimmed = text.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
        let mark = marks.first { trimmed.hasSuffix($0.0) }
        guard let bytes = try? Hex.decode(trimmed.dropLast(mark?.0.utf8.count ?? 0)) else {
            throw ParseError(text: tr("not hexadecimal", "16 進数ではありません"))
        }
        if let mark {
            guard bytes.count == 4, bytes[1] == Instruction.verify.rawValue else {
                throw ParseError(text: tr("PIN is only allowed after CLA 20 P1 P2", "PIN は CLA 20 P1 P2 の後だけに書けます"))
            }
            return .verify(try reference(bytes, mark.1), pin: mark.1)
        }
        guard let command = try? CommandAPDU(decoding: bytes) else {
            throw ParseError(text: tr("malformed APDU, Lc/Le does not match its length", "Lc・Le と実際の長さが合いません"))
        }
        guard !command.cla.maySmuggle(command.ins) else { throw CommandError.forReader() }
        // The session refuses it unless the application of a residence card is selected.
        guard command.ins.needsGuard, !command.hasFormOfResidenceNumber else { return .send(command) }
        // Le 00 asks for nothing more and is left out; any other may be an Lc whose PIN was forgotten.
        guard command.ins == .verify, command.data.isEmpty, [0, 256].contains(command.ne) else {
            throw CommandError.guarded(command.ins)
        }
        return .tries(try reference(Array(bytes.prefix(4)), 1))
    }

    private static func reference(_ header: [UInt8], _ number: Int) throws(ParseError) -> PINReference {
        guard header.count == 4, header[2] == 0 else {
            throw ParseError(text: tr("P1 of VERIFY is 00", "VERIFY の P1 は 00 です"))
        }
        return PINReference(
            APDUStep.name(number), p2: header[3], form: .printable(4...16), cla: ClassByte(rawValue: header[0]))
    }

    /// The display name of a PIN.
    package static func name(_ number: Int) -> LocalizedText { LocalizedText("PIN \(number)", "暗証番号\(number)") }
}

/// An expected status word: four hexadecimal digits, any of which may be `x`.
package struct StatusPattern: Equatable, Sendable, CustomStringConvertible {
    package let description: String

    init?(_ text: Substring) {
        guard text.utf8.count == 4, text.utf8.allSatisfy({ Hex.value(of: $0) != nil || $0 | 0x20 == 0x78 }) else {
            return nil
        }
        description = text.uppercased().replacing("X", with: "x")
    }

    package func matches(_ status: StatusWord) -> Bool {
        zip(description.utf8, status.description.utf8).allSatisfy { $0 == UInt8(ascii: "x") || $0 == $1 }
    }
}

/// One command and its answer, for the output. Only the header of a VERIFY is kept.
package struct APDUExchange {
    package var step: APDUStep
    package var response: ResponseAPDU

    package init(step: APDUStep, response: ResponseAPDU) { (self.step, self.response) = (step, response) }

    /// The answer on one line: data and status word, or the status word alone.
    package func line(_ separator: HexSeparator, _ redaction: Redaction) -> String {
        let data = Hex.encode(shown(response.data, redaction), uppercase: true, separator: separator.text)
        return (data.isEmpty ? "" : data + " ") + response.status.description
    }

    /// One element of `exchanges` in `kazasu.apdu/1`.
    package func json(_ redaction: Redaction) -> JSONValue {
        let tx = redaction.isOn ? APDURedaction.command(sent) : sent
        var object = JSONObject([("tx", .string(Hex.encode(tx)))])
        if case .verify(_, let number) = step.action { object["pin"] = .int(number) }
        object["data"] = .string(Hex.encode(shown(response.data, redaction)))
        object["sw"] = .string(response.status.description)
        return .object(object)
    }

    private var sent: [UInt8] {
        switch step.action {
        case .send(let command): ((try? command.encoded()) ?? []).prefix(command.ins.needsGuard ? 4 : .max).map(\.self)
        case .tries(let reference), .verify(let reference, _):
            [reference.cla.rawValue, Instruction.verify.rawValue, 0x00, reference.p2]
        }
    }

    /// Which part of the data is personal is unknown, so all of it is masked.
    private func shown(_ data: [UInt8], _ redaction: Redaction) -> [UInt8] {
        redaction.isOn ? data.map { _ in 0 } : data
    }
}
