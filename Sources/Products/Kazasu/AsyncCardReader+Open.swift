// SPDX-License-Identifier: Apache-2.0

extension AsyncCardReader {
    /// Opens a reader; `id` and errors are those of ``openReader(_:)``.
    ///
    /// A driver that does not return within 15 seconds is abandoned, and the reader counts as busy.
    public static func open(_ id: String? = nil) async throws(KazasuError) -> AsyncCardReader {
        try await open(id ?? "") { cancellation throws(KazasuError) in
            try ReaderRegistry.openReader(id, cancellation)
        }
    }
}
