// SPDX-License-Identifier: Apache-2.0

public import CardCiphers
internal import NDEF
internal import NFCTransport

extension Type2Tag {
    /// Whether the tag is authenticated with a key.
    public var isAuthenticated: Bool { key != nil }

    /// Authenticates with the key of an Ultralight C, sixteen bytes as its data sheet writes them (from the factory
    /// `49454D4B41455242214E4143554F5946`), and does so again each time the tag has to be selected anew.
    ///
    /// The key is proved and not sent. There is no limit of tries that a wrong one could use up.
    ///
    /// - Throws: ``TagError``; ``TagError/takesNoKey``, ``TagError/keyRefused``.
    public func authenticate(_ key: TripleDESKey) throws(TagError) {
        guard try product() == .ultralightC else { throw .takesNoKey }
        self.key = key
        do throws(TagError) {
            try select()
        } catch {
            self.key = nil
            throw error
        }
    }

    /// One run of AUTHENTICATE with the tag that was just selected.
    ///
    /// - Returns: `false` when an answer did not come, or not whole.
    /// - Throws: ``TagError/keyRefused``, ``TagError/transport(_:)``, ``TagError/cancelled``.
    func proves(_ key: TripleDESKey) throws(TagError) -> Bool {
        let answer: [UInt8]
        let run: Type2Authentication
        do throws(TransportError) {
            let challenge = try reader.transceive(Type2Command.authenticate, timeout: Type2Tag.timeout)
            guard let begun = Type2Authentication(challenge: challenge, key: key, random: random()) else {
                return false
            }
            run = begun
            answer = try reader.transceive(run.reply, timeout: Type2Tag.timeout)
        } catch {
            switch error {
            case .noAnswer, .cardReleased: return false
            case .cancelled: throw .cancelled
            default:
                guard error.isTransient else { throw .transport(error) }
                return false
            }
        }
        guard run.isProof(answer) else { throw .keyRefused }
        return true
    }
}
