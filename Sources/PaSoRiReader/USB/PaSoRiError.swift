// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Why a command to a PaSoRi has no answer that can be used.
enum PaSoRiError: Error, Hashable, Sendable {
    /// A transfer failed.
    case usb(USBError)
    /// What came is no message, is not this command's answer, or is too much of what is not wanted.
    case damaged
    /// The reader works on something else all the time.
    case busy
    /// The reader could not carry the command out; CCID's error number.
    case refused(error: UInt8)

    /// Whether nothing can come any more, whatever is tried.
    var isFinal: Bool { if case .usb(let error) = self { error.isFinal } else { false } }

    /// Whether it is open what the reader still has to say.
    var leavesDoubt: Bool {
        switch self {
        case .usb, .damaged: true
        case .busy, .refused: false
        }
    }

    /// What it is for who reads cards, once the reader is well again.
    var transportError: TransportError {
        switch self {
        case .usb(let error): error.transportError
        case .damaged: .corrupted(status: 0)
        case .busy: .readerUnavailable(reason: .busy, detail: .init(.working))
        case .refused(let error): .readerFailed(detail: .init(.commandRefused, "\(error)"))
        }
    }

    /// What it is when the reader is not well again: itself, or `other` where it was no reader's fault.
    func fault(else other: TransportError) -> TransportError {
        transportError.isReaderError ? transportError : other
    }
}
