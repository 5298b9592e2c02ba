// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import FeliCa
public import ISO7816
internal import ReaderCore

extension CardReader {
    /// Polls once for a FeliCa card that has one of these systems, in this order; does not wait for one to come.
    ///
    /// ```swift
    /// let system = try reader.pollFeliCa([.commonArea, .transit])
    /// ```
    ///
    /// The first system that answers wins and is selected, whatever the order on the card.
    /// `Reader.activateFeliCa` gives the request data as well.
    ///
    /// - Parameters:
    ///   - systems: the system codes; ``SystemCode/any`` accepts whichever system the card names first.
    ///   - requestCode: 0 for nothing more, 1 for the system code, 2 for the communication performance.
    ///   - timeSlots: 0, 1, 3, 7 or 15: the number of slots after the first, in which several cards can answer.
    /// - Returns: the system that answered; `nil` if none did.
    /// - Throws: ``KazasuError/reader(_:id:)``, ``KazasuError/cancelled``.
    public func pollFeliCa(
        _ systems: [SystemCode], requestCode: UInt8 = 0, timeSlots: UInt8 = 0
    ) throws(KazasuError) -> FeliCaSystem? {
        do throws(TransportError) {
            let target = try device.activateFeliCa(systems: systems, requestCode: requestCode, timeSlots: timeSlots)
            return target.map { FeliCaSystem(channel: device, target: $0, owner: self) }
        } catch {
            throw KazasuError(error, of: information.id)
        }
    }
}

extension Card {
    /// Returns the card's session for APDUs: one for as long as the card lies there.
    ///
    /// ```swift
    /// let session = try card.apdus()
    /// let answer = try session.transmit(CommandAPDU(.select, p1: 0x04, p2: 0x0C, data: aid.bytes))
    /// ```
    ///
    /// Commands that carry a PIN are refused by ``ISO7816Session/transmit(_:)``: use
    /// ``ISO7816Session/verify(_:with:)``, which never uses a last try without consent.
    ///
    /// - Throws: ``KazasuError/wrongCard(_:)`` for a card that does not accept APDUs.
    public func apdus() throws(KazasuError) -> ISO7816Session {
        guard picc.isISODEP else { throw .wrongCard(WrongCard(picc, .noISODEP)) }
        return iso7816
    }

    /// Sends one frame and returns the card's answer.
    ///
    /// The frame is a FeliCa packet with its LEN byte, a command APDU, or a Type 2 Tag command without CRC. VERIFY and
    /// other commands that carry a PIN are refused; see ``apdus()``.
    ///
    /// - Parameters:
    ///   - frame: the command.
    ///   - timeout: the longest time that the card may take to answer; an APDU has the time-out of its session.
    /// - Throws: ``KazasuError/reader(_:id:)``; ``KazasuError/apdu(_:)`` for a refused command.
    public func transceive(
        _ frame: [UInt8], timeout: Duration = .milliseconds(500)
    ) throws(KazasuError) -> [UInt8] {
        if picc.isISODEP {
            do throws(ISO7816Error) {
                let command: CommandAPDU
                do throws(APDUError) {
                    command = try CommandAPDU(decoding: frame)
                } catch {
                    throw .invalidCommand(error)
                }
                return try iso7816.transmit(command).encoded()
            } catch {
                throw .apdu(error)
            }
        }
        do throws(TransportError) {
            return try reader.device.transceive(frame, timeout: timeout)
        } catch {
            throw KazasuError(error, of: reader.information.id)
        }
    }

    /// The FeliCa commands for the system that was found, as in the card's manual; `nil` for a card of another kind.
    ///
    /// ```swift
    /// let versions = try card.feliCaSystem?.requestService([NodeCode(rawValue: 0x090F)])
    /// ```
    ///
    /// Sending to the IDm of another system of the card switches it to that system, which the other functions of this
    /// card do not expect: use one or the other.
    public var feliCaSystem: FeliCaSystem? {
        feliCa.map { FeliCaSystem(channel: reader.device, target: $0, owner: reader) }
    }
}
