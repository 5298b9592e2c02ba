// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCrypto
internal import CardModel

extension ChipEvidence {
    /// Judges saved exchanges as they were judged with the chip; what was judged stays.
    ///
    /// - Parameter infos: of DG14.
    /// - Throws: ``CryptoError/libraryMissing``.
    func replayed(_ infos: SecurityInfos) throws(CryptoError) -> ChipEvidence {
        var replayed = self
        if chip == nil, let agreement {
            replayed.chip =
                try Self.attempt { () throws(CryptoError) in try agreement.judged(infos) }
                ?? .notDone(.algorithm)
        }
        if mapping == nil, let mappingRecord {
            replayed.mapping = try Self.attempt { () throws(CryptoError) in try ChipMapping.proof(of: mappingRecord) }
        }
        return replayed
    }

    /// Does something with keys from a file; `nil` if they do not allow it.
    private static func attempt<Value>(
        _ body: () throws(CryptoError) -> Value?
    ) throws(CryptoError) -> Value? {
        do throws(CryptoError) {
            return try body()
        } catch .libraryMissing {
            throw .libraryMissing
        } catch {
            return nil
        }
    }
}

extension AgreementRecord {
    /// Agrees again on the keys of the exchange and checks the code of the chip's answer; `nil` for a key that is not known.
    ///
    /// - Throws: ``CryptoError/refused`` for a key that is not in its group.
    fileprivate func judged(_ infos: SecurityInfos) throws(CryptoError) -> ChipEvidence.Static? {
        guard let (way, key) = infos.chipAuthentication(named: name, keyID: keyID),
            let chip = try AgreementKey(der: key.der)
        else { return nil }
        let status = answer.suffix(2)
        guard answer.count > 2 else {
            return way.isForeign(status.reduce(0) { $0 << 8 | UInt16($1) }) ? .failed(way) : .notDone(.refused)
        }
        let codes = try SessionCipher(
            way.cipher, from: try chip.group.agreed(privateKey.bytes, with: chip.publicKey), purpose: 2)
        let list = BERTLVList(tolerant: answer.dropLast(2))
        guard list.fault == nil, let code = list.objects.last, code.tag == 0x8E,
            list.objects.dropLast().last.map({ $0.tag == 0x99 && $0.value.elementsEqual(status) }) ?? false
        else { return .failed(way) }
        let number = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) }
        let block = [UInt8](repeating: 0, count: codes.blockLength - 8) + number
        let covered = block + answer.dropLast(2 + code.encoded.count)
        return try codes.paddedCode(covered) == code.value ? .proved(way) : .failed(way)
    }
}
