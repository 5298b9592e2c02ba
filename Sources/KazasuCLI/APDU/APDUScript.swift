// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import Glibc
import ISO7816

/// The APDUs of one run, in order.
struct APDUScript: Equatable, Sendable {
    var steps: [APDUStep]

    /// Reads the arguments of the command: APDUs, or one file or `-`.
    ///
    /// - Throws: `ValidationError` for an argument that is none, ``Failure`` for a file.
    init(arguments: [String]) throws {
        if APDUScript.isFile(arguments) {
            self = try APDUScript(path: arguments[0])
            return
        }
        steps = []
        for (index, argument) in arguments.enumerated() {
            let label = tr("APDU \(index + 1)", "APDU \(index + 1)")
            do {
                steps.append(try APDUStep(argument, label: label))
            } catch let fault as APDUStep.Fault {
                throw ValidationError("\(label): \(fault.text)")
            }
        }
    }

    /// Reads a script: one APDU a line; `#` begins a comment.
    init(path: String) throws {
        steps = []
        let bytes = try Files.read(path, limit: 1 << 20)
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let label = tr("line \(index + 1)", "\(index + 1) 行目")
            let code = line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 != UInt8(ascii: "\r") }
            guard code.contains(where: { $0 > 0x20 }) else { continue }
            do {
                steps.append(try APDUStep(String(decoding: code, as: UTF8.self), label: label))
            } catch let fault as APDUStep.Fault {
                throw Failure(
                    .badFile, "badFile", "\(Files.name(path)): \(label): \(fault.text)",
                    hint: tr("one APDU a line, as in 00A4000C023F00 => 9000", "1 行に 1 つ、例: 00A4000C023F00 => 9000"))
            }
        }
        guard !steps.isEmpty else {
            throw Failure(
                .badFile, "badFile", tr("\(Files.name(path)): there is no APDU", "\(Files.name(path)): APDU がありません"),
                hint: tr("one APDU a line, as in 00A4000C023F00 => 9000", "1 行に 1 つ、例: 00A4000C023F00 => 9000"))
        }
    }

    /// The PINs that are to be verified, by their numbers: where each goes first.
    var pins: [Int: PINReference] {
        Dictionary(
            steps.compactMap { step in
                if case .verify(let reference, let number) = step.action { (number, reference) } else { nil }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the arguments of the command are one file, or `-`.
    static func isFile(_ arguments: [String]) -> Bool {
        guard let path = arguments.first, arguments.count == 1 else { return false }
        var status = stat()
        return path == "-" || stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }
}
