// SPDX-License-Identifier: Apache-2.0

public import ReaderCore
public import VirtualReader

/// Checks that a reader keeps the contract of `Reader`.
///
/// The suites put cards before the reader, exchange frames with them, damage answers, take cards away and cancel. They
/// need no testing framework. In Swift Testing:
///
/// ```swift
/// @Test func conforms() throws {
///     let report = try ReaderConformance.check { field, cancellation in
///         MyReader(SimulatedDevice(field), cancellation: cancellation)
///     }
///     #expect(report.breaches == [])
/// }
/// ```
public enum ReaderConformance {
    /// Runs every suite that applies to the reader's `ReaderInformation.technologies`.
    ///
    /// - Parameter open: opens a reader on a simulated device. It is called once for each suite, with a field that is
    ///   empty and the token that must cancel the reader's work. The device exchanges frames with the field, for
    ///   example through an `InProcessReader`.
    /// - Throws: what `open` throws.
    public static func check(
        _ open: (VirtualField, CancellationToken) throws -> any Reader
    ) throws -> ConformanceReport {
        try check(readerQuirks: [], open)
    }

    /// The same with a device that deviates.
    ///
    /// - Parameter names: switches of `virtual.quirks` that change a reader.
    package static func check(
        readerQuirks names: [String], _ open: (VirtualField, CancellationToken) throws -> any Reader
    ) throws -> ConformanceReport {
        var report = ConformanceReport()
        for suite in [feliCa, iso14443, presence, heard, quirks] {
            let field = try field(names)
            let cancellation = CancellationToken()
            let reader = try open(field, cancellation)
            defer { reader.close() }
            report += try suite(reader, ConformanceStage(field), cancellation)
        }
        return report
    }

    /// An empty field in which answers collide.
    private static func field(_ names: [String]) throws -> VirtualField {
        let quirks = (["two-cards"] + names).map { "\"\($0)\"" }.joined(separator: ",")
        let file = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff","systems":[{"code":"0003"}],
             "virtual":{"quirks":[\(quirks)]}}
            """
        let field = try VirtualField(cardFile: Array(file.utf8))
        field.removeCards()
        return field
    }

    /// FeliCa: Polling, exchanges, long answers, silent cards, damaged answers and cards that leave. The reader is closed
    /// afterwards.
    package static func feliCa(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var suite = FeliCaConformance(reader, stage: stage, cancellation: cancellation)
        try suite.run()
        return suite.report
    }

    /// What is heard of cards that cannot be selected: two FeliCa cards at once, cards of type A that do not start ISO-DEP,
    /// cards of type B without it, and silence, which is heard of nothing.
    package static func heard(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var suite = HeardConformance(reader: reader, stage: stage)
        try suite.run()
        return suite.report
    }

    /// Cards of type A and B that deviate as real ones do: what is read is right, and a card that cannot be selected is never
    /// a reader's failure. The reader is closed afterwards.
    package static func quirks(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var suite = QuirkConformance(reader: reader, stage: stage)
        try suite.run()
        return suite.report
    }

    /// Cards of type A and B: ISO-DEP with chaining in both directions, waiting time extensions, cards that leave, and
    /// Type 2 Tags. The reader is closed afterwards.
    package static func iso14443(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var suite = ISO14443Conformance(reader, stage: stage, cancellation: cancellation)
        try suite.run()
        return suite.report
    }
}

/// The result of a conformance check.
public struct ConformanceReport: Hashable, Sendable, CustomStringConvertible {
    /// The deviations from the contract, one sentence each; empty for a conforming reader.
    public internal(set) var breaches: [String] = []
    /// The cases that do not apply to this reader, by name.
    public internal(set) var skipped: [String] = []

    /// Creates the report of a conforming reader.
    public init() {}

    /// The breaches and the skipped cases, one a line.
    public var description: String {
        (breaches.map { "breach: \($0)" } + skipped.map { "skipped: \($0)" }).joined(separator: "\n")
    }

    static func += (report: inout ConformanceReport, other: ConformanceReport) {
        report.breaches += other.breaches
        report.skipped += other.skipped
    }

    mutating func expect<Value: Equatable>(
        _ expected: Result<Value, TransportError>, _ name: String, _ work: () throws(TransportError) -> Value
    ) {
        let found = Result(catching: work)
        if found != expected { breaches.append("\(name): \(found) instead of \(expected)") }
    }

    /// Expects a failure of one kind.
    mutating func expectError<Value>(
        _ name: String, _ isExpected: (TransportError) -> Bool, _ work: () throws(TransportError) -> Value
    ) {
        switch Result(catching: work) {
        case .success(let value): breaches.append("\(name): \(value)")
        case .failure(let error): if !isExpected(error) { breaches.append("\(name): \(error)") }
        }
    }
}
