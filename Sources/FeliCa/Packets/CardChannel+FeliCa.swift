// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

extension CardChannel {
    /// Looks for a card that has a system, with one Polling packet.
    ///
    /// - Parameters:
    ///   - systemCode: the system; `FF` in either byte stands for any value of that byte.
    ///   - requestCode: what the card is to tell beside IDm and PMm.
    ///   - timeSlots: in how many slots cards may answer.
    /// - Throws: ``FeliCaError``; no card is ``FeliCaError/transport(_:)`` with `noAnswer`.
    public func polling(
        _ systemCode: SystemCode, requestCode: PollingRequestCode = .none, timeSlots: TimeSlots = .one
    ) throws(FeliCaError) -> PollingResponse {
        let command = Polling(systemCode, requestCode: requestCode, timeSlots: timeSlots)
        // Polling carries no IDm; the packet and its answer do not depend on this one.
        let nobody = IDm(rawValue: 0)
        let frame = try exchange(command.packet(for: nobody), timeout: command.window)
        return try command.response(from: frame, idm: nobody)
    }

    /// One exchange with its errors wrapped.
    func exchange(_ packet: [UInt8], timeout: Duration) throws(FeliCaError) -> [UInt8] {
        do {
            return try transceive(packet, timeout: timeout)
        } catch {
            throw .transport(error)
        }
    }
}
