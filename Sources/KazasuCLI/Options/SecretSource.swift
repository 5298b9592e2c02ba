// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardCiphers
import Glibc

/// Where a PIN or key comes from when it is not typed: `env:NAME`, `file:PATH` or `fd:NUMBER`. It is never an argument,
/// for every user of the machine can see those.
enum SecretSource: ExpressibleByArgument, Equatable, Sendable {
    case environment(String)
    case file(String)
    case descriptor(Int32)
    /// None of these, and perhaps the secret itself: the parser's own words for a bad value would repeat it.
    case none

    init(argument: String) {
        self = .none
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { return }
        switch parts[0] {
        case "env": self = .environment(String(parts[1]))
        case "file": self = .file(String(parts[1]))
        case "fd":
            guard let number = Int32(parts[1]), number >= 0 else { return }
            self = .descriptor(number)
        default: return
        }
    }

    /// Checks what an option was given.
    ///
    /// - Throws: `ValidationError`, without what stands there.
    static func validate(_ source: SecretSource?, _ option: String) throws(ValidationError) {
        guard source == SecretSource.none else { return }
        throw ValidationError(
            tr(
                "\(option) takes env:NAME, file:PATH or fd:NUMBER, never the secret itself",
                "\(option) には env:変数名、file:パス、fd:番号 を指定してください。値そのものは書けません"))
    }

    /// The secret: all up to the first line end.
    ///
    /// A variable of the environment is overwritten as it is read. What was read of a file or descriptor is overwritten
    /// here; one that a pipe is behind can be read once.
    ///
    /// - Parameters:
    ///   - what: what messages call it.
    ///   - reason: the word for scripts when there is none.
    /// - Throws: ``Failure``, without what was read.
    func read(_ what: String, reason: String = "noPIN") throws(Failure) -> SecretBytes {
        let secret: SecretBytes?
        switch self {
        case .environment(let name):
            guard let value = getenv(name) else {
                throw SecretSource.missing(what, reason, tr("\(name) is not set", "環境変数 \(name) がありません"))
            }
            ProcessSecrecy.begin()
            let bytes = UnsafeRawBufferPointer(start: value, count: strlen(value))
            secret = bytes.isEmpty || bytes.count > SecretLine.longest ? nil : SecretBytes(bytes)
            explicit_bzero(value, bytes.count)
        case .file(let path):
            let descriptor = Descriptor.open(path)
            guard descriptor >= 0 else { throw Files.unreadable(path, errno) }
            defer { close(descriptor) }
            secret = try SecretLine.read(descriptor, name: path)
        case .descriptor(let number):
            secret = try SecretLine.read(number, name: tr("descriptor \(number)", "ディスクリプター \(number)"))
        case .none: secret = nil
        }
        guard let secret else {
            throw SecretSource.missing(what, reason, tr("there is none, or too much", "空、または長すぎます"))
        }
        return secret
    }

    private static func missing(_ what: String, _ reason: String, _ why: String) -> Failure {
        Failure(
            .usage, reason, tr("\(what) cannot be read: \(why)", "\(what)を読めません（\(why)）"),
            hint: tr(
                "it is the first line of env:NAME, file:PATH or fd:NUMBER", "env:変数名、file:パス、fd:番号 の 1 行目を読みます"))
    }
}
