// SPDX-License-Identifier: Apache-2.0

package import NFCTransport

/// Why a transfer failed.
package enum USBError: Error, Hashable, Sendable {
    /// Nothing came, or was taken, in time.
    case timedOut
    /// The endpoint refused; it was made ready again.
    case stalled
    /// More came than fits.
    case overflow
    /// The device was unplugged, or the link is closed.
    case gone
    /// Work was cancelled.
    case cancelled
    /// Something else, as libusb numbers it.
    case failed(code: Int32)

    /// What it means for who reads cards. What ``isFinal`` says no does may be mended by the driver before.
    package var transportError: TransportError {
        switch self {
        case .timedOut: .readerTimeout
        case .gone: .unplugged
        case .cancelled: .cancelled
        case .stalled: .readerFailed(detail: "a USB transfer was refused")
        case .overflow: .readerFailed(detail: "a USB transfer was too long")
        case .failed(let code): .readerFailed(detail: "libusb reported error \(code)")
        }
    }

    /// Whether nothing can come any more, whatever is tried.
    package var isFinal: Bool { self == .gone || self == .cancelled }
}

extension TransportError {
    /// The reader is gone.
    package static let unplugged = TransportError.readerUnavailable(reason: .absent, detail: "the reader was unplugged")
}
