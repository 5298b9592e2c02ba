// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Why a command to a PaSoRi has no usable answer.
enum PaSoRiError: Error, Hashable, Sendable {
    /// A transfer failed.
    case usb(USBError)
    /// The received data is not a message, is not this command's answer, or exceeds the limit on unexpected data.
    case damaged
    /// The reader stays busy with something else.
    case busy
    /// The reader could not carry out the command; CCID's error number.
    case refused(error: UInt8)

    /// Whether the link is dead for good.
    var isFinal: Bool { if case .usb(let error) = self { error.isFinal } else { false } }

    /// Whether the reader's next output is unknown.
    var leavesDoubt: Bool {
        switch self {
        case .usb, .damaged: true
        case .busy, .refused: false
        }
    }

    /// The error for callers that read cards, once the reader works again.
    var transportError: TransportError {
        switch self {
        case .usb(let error): error.transportError
        case .damaged: .corrupted(status: 0)
        case .busy: .readerUnavailable(reason: .busy, detail: .init(.working))
        case .refused(let error): .readerFailed(detail: .init(.commandRefused, "\(error)"))
        }
    }

    /// Returns the error when the reader does not work again: itself, or `other` where the reader was not at fault.
    func fault(else other: TransportError) -> TransportError {
        transportError.isReaderError ? transportError : other
    }
}
