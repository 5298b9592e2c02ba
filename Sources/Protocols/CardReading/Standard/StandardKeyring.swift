// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import FeliCa

/// The owner's keys for FeliCa Standard, and which lists of them cards did not confirm.
package struct StandardKeyring {
    package let keys: StandardKeys
    /// Whether keys may be used again that this card did not confirm before.
    package let retries: Bool
    package let failures: any StandardFailures

    package init(
        _ keys: StandardKeys, retries: Bool = false, failures: any StandardFailures = StandardFailuresOfRun()
    ) {
        (self.keys, self.retries, self.failures) = (keys, retries, failures)
    }
}

/// Remembers which lists of nodes with which keys a card did not confirm.
package protocol StandardFailures: AnyObject {
    func contains(_ access: StandardAccess, of system: SystemHandle) -> Bool
    func insert(_ access: StandardAccess, of system: SystemHandle)
    func remove(_ access: StandardAccess, of system: SystemHandle)
}

/// Remembers them until the program ends.
package final class StandardFailuresOfRun: StandardFailures {
    private var failed: [(system: SystemHandle, access: StandardAccess)] = []

    package init() {}

    private static func isSame(_ one: StandardAccess, _ other: StandardAccess) -> Bool {
        one.scheme == other.scheme && one.areas == other.areas && one.nodes == other.nodes
            && one.key.isSame(as: other.key)
    }

    package func contains(_ access: StandardAccess, of system: SystemHandle) -> Bool {
        failed.contains { $0.system.idm == system.idm && Self.isSame($0.access, access) }
    }

    package func insert(_ access: StandardAccess, of system: SystemHandle) {
        if !contains(access, of: system) { failed.append((system, access)) }
    }

    package func remove(_ access: StandardAccess, of system: SystemHandle) {
        failed.removeAll { $0.system.idm == system.idm && Self.isSame($0.access, access) }
    }
}

/// Why keys did not open a service.
package struct KeyFailure: Hashable, Sendable {
    package let reason: KeyRefusal
    /// The node whose key is missing or of another version. If the card did not confirm the keys, the area whose key is
    /// wrong where that is known, else the service; the root area stands for the system as well.
    package let node: NodeCode

    package init(_ reason: KeyRefusal, _ node: NodeCode) { (self.reason, self.node) = (reason, node) }
}
