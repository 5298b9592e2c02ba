// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

extension TransportError {
    /// Whether the air is to blame, so that the frame may be sent again.
    var isRadioFault: Bool {
        switch self {
        case .noAnswer, .corrupted: true
        default: false
        }
    }
}
