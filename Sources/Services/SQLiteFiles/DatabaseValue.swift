// SPDX-License-Identifier: Apache-2.0

/// A value as SQLite stores it.
package enum DatabaseValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// What can be the argument of a statement, and the value of a column.
package protocol DatabaseValueConvertible {
    /// The value as SQLite stores it.
    var databaseValue: DatabaseValue { get }

    /// Fails for a value of another type.
    init?(databaseValue: DatabaseValue)
}

extension DatabaseValueConvertible where Self: FixedWidthInteger & SignedInteger {
    package var databaseValue: DatabaseValue { .integer(Int64(self)) }

    package init?(databaseValue: DatabaseValue) {
        switch databaseValue {
        case .integer(let number): self.init(exactly: number)
        // A sum may be one.
        case .real(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension Int: DatabaseValueConvertible {}
extension Int32: DatabaseValueConvertible {}
extension Int64: DatabaseValueConvertible {}

extension Bool: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }

    package init?(databaseValue: DatabaseValue) {
        guard case .integer(let number) = databaseValue else { return nil }
        self = number != 0
    }
}

extension String: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { .text(self) }

    package init?(databaseValue: DatabaseValue) {
        guard case .text(let text) = databaseValue else { return nil }
        self = text
    }
}

extension [UInt8]: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { .blob(self) }

    package init?(databaseValue: DatabaseValue) {
        guard case .blob(let bytes) = databaseValue else { return nil }
        self = bytes
    }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    package var databaseValue: DatabaseValue { self?.databaseValue ?? .null }

    package init?(databaseValue: DatabaseValue) {
        if case .null = databaseValue {
            self = .none
            return
        }
        guard let wrapped = Wrapped(databaseValue: databaseValue) else { return nil }
        self = .some(wrapped)
    }
}

/// The arguments of a statement, in the order of its parameters.
package struct StatementArguments: ExpressibleByArrayLiteral {
    let values: [DatabaseValue]

    private init(values: [DatabaseValue]) { self.values = values }

    package init(_ values: [(any DatabaseValueConvertible)?]) {
        self.values = values.map { $0?.databaseValue ?? .null }
    }

    package init(_ values: some Sequence<some DatabaseValueConvertible>) { self.values = values.map(\.databaseValue) }

    package init(arrayLiteral elements: (any DatabaseValueConvertible)?...) { self.init(elements) }

    /// The first arguments, as many as there are parameters, and the others.
    func split(at count: Int) -> (StatementArguments, StatementArguments) {
        (
            StatementArguments(values: Array(values.prefix(count))),
            StatementArguments(values: Array(values.dropFirst(count)))
        )
    }

    package static func + (first: StatementArguments, second: StatementArguments) -> StatementArguments {
        StatementArguments(values: first.values + second.values)
    }

    package static func += (first: inout StatementArguments, second: StatementArguments) { first = first + second }
}
