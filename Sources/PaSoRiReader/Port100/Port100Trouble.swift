// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Why a command to a Port-100 has no answer that can be used.
enum Port100Trouble: Error, Hashable, Sendable {
    /// A transfer failed.
    case usb(USBError)
    /// What came is no frame, or not this command's answer.
    case damaged
    /// The reader could not read the command.
    case refused

    /// Whether nothing can come any more, whatever is tried.
    var isFinal: Bool { if case .usb(let error) = self { error.isFinal } else { false } }

    /// What it is for who reads cards, once the reader is well again.
    var transportError: TransportError {
        switch self {
        case .usb(let error): error.transportError
        case .damaged, .refused: .corrupted(status: 0)
        }
    }

    /// What it is when the reader is not well again: itself, or `other` where it was no reader's fault.
    func fault(else other: TransportError) -> TransportError {
        transportError.isReaderFault ? transportError : other
    }
}
