// SPDX-License-Identifier: Apache-2.0

extension CancellationToken {
    /// Does a piece of work; what fails after a cancellation was cancelled, whatever it says itself.
    ///
    /// - Throws: what `work` throws, or ``TransportError/cancelled``.
    public func run<Result>(
        _ work: () throws(TransportError) -> Result
    ) throws(TransportError) -> Result {
        do throws(TransportError) {
            return try work()
        } catch {
            try check()
            throw error
        }
    }
}
