// SPDX-License-Identifier: Apache-2.0

/// Errors of the caller's own steps, its journal and its request to lift a card, on their way through an issuer that has
/// errors of another type.
final class OwnSteps {
    private var failure: KazasuError?

    /// Takes a step; an error of it ends the issuer as `end` and is thrown by ``run(_:)``.
    func take<Failure: Error>(as end: Failure, _ step: () throws(KazasuError) -> Void) throws(Failure) {
        do throws(KazasuError) {
            try step()
        } catch {
            failure = error
            throw end
        }
    }

    /// Runs an issuer.
    func run<Value>(_ issuer: () throws(KazasuError) -> Value) throws(KazasuError) -> Value {
        do throws(KazasuError) {
            return try issuer()
        } catch {
            throw failure ?? error
        }
    }
}
