// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// Opens and lists the readers of the PC/SC service (pcscd): every CCID reader.
///
/// A reader's ID is `pcsc:` and pcscd's name for it, or a prefix of a name that matches only one reader.
package struct PCSCDriver: ReaderDriver {
    static let prefix = "pcsc:"

    private let recorder: LinkRecorder?

    package init(recorder: LinkRecorder? = nil) {
        self.recorder = recorder
    }

    /// The readers that pcscd knows, none when it does not run; `obstacle` distinguishes the two.
    ///
    /// Where pcscd is started on demand, asking it starts it, and it takes the readers that it knows from others.
    package func list() -> [ReaderListing] {
        do throws(TransportError) {
            return try PCSCContext().readers().map {
                ReaderListing(id: Self.prefix + $0, name: $0, state: .ready)
            }
        } catch {
            guard case .readerUnavailable(.permission, let detail) = error else { return [] }
            return [ReaderListing(id: Self.prefix, name: "PC/SC", state: .unavailable(.permission, detail: detail))]
        }
    }

    /// Why the service cannot be used, or `nil` when it can.
    package func obstacle() -> TransportError? {
        do throws(TransportError) {
            _ = try PCSCContext()
            return nil
        } catch {
            return error
        }
    }

    /// Opens a reader; there need not be a card.
    ///
    /// - Returns: `nil` when the ID does not begin with `pcsc:`.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``.
    package func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        guard id.hasPrefix(Self.prefix) else { return nil }
        try cancellation.check()
        let context = try PCSCContext(recorder: recorder)
        let name = try Self.choose(String(id.dropFirst(Self.prefix.utf8.count)), from: context.readers())
        return PCSCReader(context, name: name, cancellation: cancellation)
    }

    /// Returns the reader that a name, or its prefix, refers to.
    static func choose(_ wanted: String, from names: [String]) throws(TransportError) -> String {
        if let exact = names.first(where: { $0 == wanted }) { return exact }
        let candidates = names.filter { $0.hasPrefix(wanted) }
        guard let only = candidates.first else {
            throw .readerUnavailable(reason: .absent, detail: .init(.serviceKnowsNoSuchReader))
        }
        guard candidates.count == 1 else {
            throw .readerUnavailable(
                reason: .absent, detail: .init(.ambiguous, candidates.joined(separator: ", ")))
        }
        return only
    }
}
