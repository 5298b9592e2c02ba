// SPDX-License-Identifier: Apache-2.0

/// The limit of every output whose reader may pause: standard output, a stream of events, a WebSocket.
package enum OutputLimit {
    /// Bytes that may wait. More than that is dropped, or ends the output; both are reported.
    package static let bytes = 32 << 20
}
