// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a server cannot listen.
package struct ListenError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// Another program listens there.
        case busy
        case permission
        /// The address is not one of this computer, or the folder is missing.
        case absent
        /// The file at the path of the socket is something else; it was not changed.
        case notASocket
        case failed
    }

    package var address: ListenAddress
    package var reason: Reason
    package var errno: Int32

    init(_ address: ListenAddress, _ errno: Int32) {
        (self.address, self.errno) = (address, errno)
        reason =
            switch errno {
            case EADDRINUSE: .busy
            case EACCES, EPERM: .permission
            case EADDRNOTAVAIL, ENOENT, ENOTDIR: .absent
            case ENOTSOCK: .notASocket
            default: .failed
            }
    }
}
