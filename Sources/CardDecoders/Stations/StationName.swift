// SPDX-License-Identifier: Apache-2.0

/// What a table says of a station or a bus stop, in the table's own language.
public struct StationName: Hashable, Sendable {
    /// Every record has up to two of these: one reference is copied faster than four texts.
    private let texts: Shared<Texts>

    private struct Texts: Hashable, Sendable {
        let company: String?
        let line: String?
        let name: String?
        let formerName: String?
    }

    /// Who runs it.
    public var company: String? { texts.value.company }
    /// The line it is on; `nil` for bus stops.
    public var line: String? { texts.value.line }
    /// Its own name.
    public var name: String? { texts.value.name }
    /// The name that the code meant before, where the table knows one but not until when.
    public var formerName: String? { texts.value.formerName }

    /// A name from a table.
    public init(company: String?, line: String?, name: String?, formerName: String? = nil) {
        texts = Shared(Texts(company: company, line: line, name: name, formerName: formerName))
    }
}
