// SPDX-License-Identifier: Apache-2.0

extension TransportError {
    /// The reader was closed by who uses it.
    public static let closed = TransportError.readerUnavailable(reason: .absent, detail: "the reader was closed")
}
