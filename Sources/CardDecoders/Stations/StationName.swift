// SPDX-License-Identifier: Apache-2.0

/// What a table says of a station or a bus stop, in the table's own language.
public struct StationName: Hashable, Sendable {
    /// Who runs it.
    public let company: String?
    /// The line it is on; `nil` for bus stops.
    public let line: String?
    /// Its own name.
    public let name: String?
    /// The name that the code meant before, where the table knows one but not until when.
    public let formerName: String?

    /// A name from a table.
    public init(company: String?, line: String?, name: String?, formerName: String? = nil) {
        self.company = company
        self.line = line
        self.name = name
        self.formerName = formerName
    }
}
