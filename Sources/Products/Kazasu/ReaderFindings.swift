// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import ReaderDiagnosis

/// Examines the connected readers and the system, and says why a reader cannot be used and how to fix it.
///
/// ```swift
/// for finding in examineReaders() where finding.severity == .fault { print(finding.message.english) }
/// ```
///
/// Nothing is opened and nothing is changed; pcscd is not asked.
///
/// - Returns: the findings on each reader, then those on the system.
public func examineReaders() -> [ReaderFinding] {
    let diagnosis = Doctor(Machine()).examine()
    return diagnosis.readers.flatMap { reader in
        reader.checks.map { ReaderFinding($0, reader: reader.id ?? reader.model.name) }
    } + diagnosis.system.map { ReaderFinding($0, reader: nil) }
}

/// One thing that was examined about readers, and its fix.
public struct ReaderFinding: Hashable, Sendable {
    /// How bad it is.
    @nonexhaustive
    public enum Severity: Hashable, Sendable {
        /// As it should be.
        case ok
        /// Worth knowing.
        case note
        /// Works, but not as well as it could, or may mislead.
        case warning
        /// A reader cannot be used because of it.
        case fault
    }

    /// The ID of the reader, or its model without one; `nil` for the system.
    public let reader: String?
    /// `code` in the document `kazasu.doctor/1`, such as `notInGroup`.
    public let code: String
    /// How bad it is.
    public let severity: Severity
    /// The finding.
    public let message: LocalizedText
    /// How to fix it; `nil` when nothing has to be fixed.
    public let remedy: LocalizedText?

    init(_ check: Check, reader: String?) {
        self.reader = reader
        (code, message, remedy) = (check.code.rawValue, check.message, check.remedy)
        severity =
            switch check.verdict {
            case .ok: .ok
            case .note: .note
            case .warning: .warning
            case .fault: .fault
            }
    }
}
