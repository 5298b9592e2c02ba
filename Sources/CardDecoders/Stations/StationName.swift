// SPDX-License-Identifier: Apache-2.0

/// What a table says of a station or a bus stop, in the table's own language.
public struct StationName: Hashable, Sendable {
    /// Every record has up to two of these: one reference is copied faster than four texts.
    private let texts: Shared<Texts>

    private struct Texts: Hashable, Sendable {
        let company: String?
        let line: String?
        let name: String?
        let formerNames: [FormerName]
    }

    /// Who runs it.
    public var company: String? { texts.value.company }
    /// The line it is on; `nil` for bus stops.
    public var line: String? { texts.value.line }
    /// Its own name.
    public var name: String? { texts.value.name }
    /// The names that the code meant before, where the table knows some but not which of them held on the day.
    public var formerNames: [FormerName] { texts.value.formerNames }

    /// A name from a table.
    public init(company: String?, line: String?, name: String?, formerNames: [FormerName] = []) {
        texts = Shared(Texts(company: company, line: line, name: name, formerNames: formerNames))
    }
}

/// A name that a code meant before.
public struct FormerName: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The last day on which the code meant it, or `nil` when the table does not say.
    public let until: CalendarDate?

    /// A name with its last day.
    public init(_ name: String, until: CalendarDate? = nil) {
        self.name = name
        self.until = until
    }
}
