// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import CardCrypto
package import CardModel
package import ISO7816

/// Reads an electronic passport into a dump: EF.COM, DG1, DG2 and EF.SOD, after BAC.
///
/// PACE is not spoken; a passport that has nothing else is recognized by its EF.CardAccess.
package struct PassportReader {
    /// Why reading ended early.
    package private(set) var error: FileCardReadingError?

    private let session: ISO7816Session
    private let random: (Int) -> [UInt8]
    private var dump: CardDump
    private var secure: SecureMessaging?

    /// The longest file that is read, in bytes.
    static let longestFile = 1 << 18

    /// Selects the application.
    ///
    /// - Parameter random: returns random bytes for the authentication.
    /// - Throws: ``FileCardReadingError``; ``FileCardReadingError/otherCard`` if it is not such a document.
    package init(
        _ session: ISO7816Session, _ card: CardIdentity,
        random: @escaping (Int) -> [UInt8] = MutualAuthentication.systemRandom
    ) throws(FileCardReadingError) {
        self.session = session
        self.random = random
        dump = CardDump(card: card)
        do throws(ISO7816Error) {
            try session.select(.application(PassportFile.application))
        } catch .status {
            throw try Self.wantsPACE(session) ? .paceRequired : .otherCard
        } catch {
            throw .card(error)
        }
    }

    /// Whether EF.CardAccess lists PACE.
    private static func wantsPACE(_ session: ISO7816Session) throws(FileCardReadingError) -> Bool {
        do throws(ISO7816Error) {
            try session.select(.masterFile)
            try session.select(.childEF(PassportFile.cardAccess))
            return listsPACE(try session.readDataObject(limit: 0x1000).data)
        } catch .status {
            return false
        } catch .malformed(_, .notADataObject) {
            return false
        } catch {
            throw .card(error)
        }
    }

    /// Whether a SET of SEQUENCEs has one whose object identifier begins with 0.4.0.127.0.7.2.2.4, id-PACE.
    static func listsPACE(_ data: [UInt8]) -> Bool {
        let prefix: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x04]
        guard let set = BERTLVList(tolerant: data)[0x31] else { return false }
        return set.children?.contains { $0.tag == 0x30 && $0[0x06]?.value.starts(with: prefix) == true } ?? false
    }

    /// Opens it with the key, once.
    package mutating func unlock(_ key: PassportKey) {
        guard error == nil, secure == nil else { return }
        do throws(SecureMessagingError) {
            secure = try opened(key)
        } catch .card(.status(.getChallenge, let status)) {
            do throws(FileCardReadingError) {
                self.error =
                    try Self.wantsPACE(session) ? .paceRequired : .secure(.card(.status(.getChallenge, status)))
            } catch {
                self.error = error
            }
        } catch .wrongNumber {
            self.error = .wrongPassportKey
        } catch {
            self.error = .secure(error)
        }
    }

    private func opened(_ key: PassportKey) throws(SecureMessagingError) -> SecureMessaging {
        let (encryption, codes): (SessionCipher, SessionCipher)
        do throws(CryptoError) {
            let seed = Array(try Digest.sha1.hash(key.information).prefix(16))
            encryption = try SessionCipher(.tripleDES, key: SessionCipher.derived(from: seed, counter: 1))
            codes = try SessionCipher(.tripleDES, key: SessionCipher.derived(from: seed, counter: 2))
        } catch {
            throw .crypto(error)
        }
        let outcome = try MutualAuthentication.perform(
            in: session, encryption: encryption, authentication: codes, expected: 40, random: random)
        do throws(CryptoError) {
            return try SecureMessaging(authenticating: session, outcome)
        } catch {
            throw .crypto(error)
        }
    }

    /// Reads what the key opened, and returns everything that was read.
    package mutating func finish() -> CardDump {
        var files: [FileDump] = []
        for file in PassportFile.allCases {
            guard let secure, error == nil else {
                files.append(FileDump(id: file.id, state: self.secure == nil ? .keyRequired : .lost))
                continue
            }
            do throws(SecureMessagingError) {
                let data = try secure.readDataObject(file.id, limit: Self.longestFile)
                files.append(FileDump(id: file.id, state: .read, data: data))
            } catch .card(.status(_, let status)) {
                files.append(FileDump(id: file.id, state: ReadState(refusedWith: status)))
            } catch {
                self.error = .secure(error)
                dump.complete = false
                files.append(FileDump(id: file.id, state: .lost))
                dump.missing.append(
                    MissingPart(application: PassportFile.application, file: file.id, reason: .cardLost))
            }
        }
        dump.applications = [ApplicationDump(aid: PassportFile.application, files: files)]
        return dump
    }
}
