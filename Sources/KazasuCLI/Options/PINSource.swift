// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ISO7816

/// Where a PIN comes from when it is not typed: `env:NAME`, `file:PATH` or `fd:NUMBER`. A PIN is never an argument, for
/// every user of the machine can see those.
enum PINSource: ExpressibleByArgument, Equatable, Sendable {
    case environment(String)
    case file(String)
    case descriptor(Int32)

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return nil }
        switch parts[0] {
        case "env": self = .environment(String(parts[1]))
        case "file": self = .file(String(parts[1]))
        case "fd":
            guard let number = Int32(parts[1]), number >= 0 else { return nil }
            self = .descriptor(number)
        default: return nil
        }
    }

    /// The PIN: all up to the first line end.
    ///
    /// A variable of the environment is overwritten as it is read. What was read of a file or descriptor is overwritten
    /// here; one that a pipe is behind can be read once.
    ///
    /// - Parameter what: what messages call it.
    /// - Throws: ``Failure``, without what was read.
    func read(_ what: String) throws(Failure) -> PIN {
        let pin: PIN?
        switch self {
        case .environment(let name):
            guard let value = getenv(name) else {
                throw PINSource.missing(what, tr("\(name) is not set", "環境変数 \(name) がありません"))
            }
            let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
            pin = bytes.isEmpty || bytes.count > SecretLine.longest ? nil : PIN(bytes)
            explicit_bzero(value, bytes.count)
        case .file(let path):
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Files.unreadable(path, errno) }
            defer { close(descriptor) }
            pin = try SecretLine.read(descriptor, name: path)
        case .descriptor(let number):
            pin = try SecretLine.read(number, name: tr("descriptor \(number)", "ディスクリプター \(number)"))
        }
        guard let pin else {
            throw PINSource.missing(what, tr("there is none, or too much", "空、または長すぎます"))
        }
        return pin
    }

    private static func missing(_ what: String, _ why: String) -> Failure {
        Failure(
            .usage, "noPIN", tr("\(what) cannot be read: \(why)", "\(what)を読めません（\(why)）"),
            hint: tr(
                "give it as env:NAME, file:PATH or fd:NUMBER, or type it on a terminal",
                "env:変数名、file:パス、fd:番号 で渡すか、端末で入力してください"))
    }
}
