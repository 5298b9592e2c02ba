// SPDX-License-Identifier: Apache-2.0

package import GRDB

extension Row {
    /// A value by its column's number. Throws where a crafted file has one of another type, on which `row[…]` would trap.
    package func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ index: Int, as type: Value.Type = Value.self
    ) throws -> Value {
        try decode(Value.self, atIndex: index)
    }

    /// A value by its column's name; throws in the same way.
    package func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: String, as type: Value.Type = Value.self
    ) throws -> Value {
        try decode(Value.self, forColumn: column)
    }
}
