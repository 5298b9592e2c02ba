// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The reader's side of ISO 14443-3 type B.
struct TypeBInitiator {
    let air: Air

    /// Looks once for a card in one time slot, and tells what its ATQB says.
    func request(applicationFamily: UInt8, isWakeUp: Bool = false) -> Activation<TypeBIdentity> {
        let parameter = isWakeUp ? TypeBCommand.wakeUp : 0
        switch air(RadioFrame(.typeB, [TypeBCommand.request, applicationFamily, parameter]), 0) {
        case .aborted: return .aborted
        case .failed: return .nothing
        case .answer(let answer):
            guard answer.frame.first == TypeBCommand.halt, (12...13).contains(answer.frame.count) else {
                return .nothing
            }
            let identity = TypeBIdentity(
                pupi: Array(answer.frame[1..<5]), applicationData: Array(answer.frame[5..<9]),
                protocolInfo: Array(answer.frame[9...]))
            return identity.map { .found($0) } ?? .nothing
        }
    }

    /// ATTRIB: brings the card into ISO-DEP.
    ///
    /// - Returns: the whole answer, whose first byte is MBLI and CID; `nil` when there is none.
    func attribute(pupi: [UInt8], frameSizeIndex: UInt8, cid: UInt8) -> [UInt8]? {
        let frame = RadioFrame(
            .typeB, [TypeBCommand.attribute] + pupi + [0x00, frameSizeIndex & 0x0F, 0x01, cid & 0x0F])
        guard case .answer(let answer) = air(frame, 0), let first = answer.frame.first, first & 0x0F == cid else {
            return nil
        }
        return answer.frame
    }
}
