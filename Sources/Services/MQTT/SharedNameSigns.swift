// SPDX-License-Identifier: Apache-2.0

/// What tells that another client uses the same client ID: the broker says so, or it ended three connections in a row soon after
/// they began, and could be reached all the time.
///
/// mosquitto 2.0.11 gives no reason when another client connects with the same ID. A broker that gives one may do so before
/// the subscriptions are acknowledged.
package struct SharedNameSigns: Sendable {
    /// Reason code of MQTT 5: session taken over.
    private static let sessionTakenOver: Int32 = 0x8E

    private var shortConnections = 0
    private var isTold = false

    package init() {}

    /// Notes how a connection ended, or that none was made.
    ///
    /// - Parameter lasted: how long the connection was ready; nil when it never was.
    /// - Returns: whether there is a sign of another client, and it is the first since a connection that lasted.
    package mutating func isNew(_ fault: MQTTFault, after lasted: Duration?) -> Bool {
        let isTakenOver = fault == .ended(Self.sessionTakenOver)
        if case .ended = fault, isTakenOver || lasted.map({ $0 < .seconds(20) }) == true {
            shortConnections += 1
        } else {
            (shortConnections, isTold) = (0, false)
        }
        guard !isTold, isTakenOver || shortConnections >= 3 else { return false }
        isTold = true
        return true
    }
}
