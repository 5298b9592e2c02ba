// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import NFCTransport

/// Why a device file could not be opened, in the words of a reader.
public struct DeviceNodeFault: Hashable, Sendable {
    /// What `open` said.
    public let errorNumber: Int32
    /// The file.
    public let path: String
    /// The group that may open it, when that is known.
    public let group: String?

    /// Why a file could not be opened.
    ///
    /// - Parameter errorNumber: `errno`.
    public init(errorNumber: Int32, path: String, group: String?) {
        self.errorNumber = errorNumber
        self.path = path
        self.group = group
    }

    /// The reason.
    public var reason: UnavailableReason {
        switch errorNumber {
        case EACCES, EPERM: .permission
        case EBUSY, EWOULDBLOCK, ETXTBSY: .busy
        case EISDIR, ENOTTY, EMFILE, ENFILE, ENOMEM, ENAMETOOLONG, EROFS: .unsupported
        default: .absent
        }
    }

    /// The reason in words, for people.
    public var detail: String {
        switch reason {
        case .permission:
            group.map { "\(path) may be opened by members of the group \($0)" } ?? "\(path) may not be opened"
        case .busy: "\(path) is in use by another program"
        case .absent where errorNumber == ENOENT: "\(path) does not exist"
        case .absent: "there is no device at \(path) (error \(errorNumber))"
        case .unsupported: "\(path) cannot be opened (error \(errorNumber))"
        }
    }

    /// The error to throw.
    public var error: TransportError { .readerUnavailable(reason: reason, detail: detail) }
}
