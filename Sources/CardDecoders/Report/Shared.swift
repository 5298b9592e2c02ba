// SPDX-License-Identifier: Apache-2.0

/// A value that never changes, held once for all copies.
final class Shared<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
