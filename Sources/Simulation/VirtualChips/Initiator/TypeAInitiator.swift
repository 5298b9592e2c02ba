// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import VirtualCards

/// The reader's side of ISO 14443-3 type A.
package struct TypeAInitiator {
    package let send: FrameExchange

    /// Creates the reader's side; frames go through `send`.
    package init(send: @escaping FrameExchange) {
        self.send = send
    }

    /// Looks once for a card and selects it.
    ///
    /// - Parameters:
    ///   - isWakeUp: WUPA, which halted cards answer too.
    ///   - uid: the UID with its cascade tags when it is known, 4, 8 or 12 bytes; empty to find it out.
    package func activate(isWakeUp: Bool = false, uid: [UInt8] = []) -> Activation<TypeAIdentity> {
        let request = isWakeUp ? TypeACommand.wakeUp : TypeACommand.request
        let frame = RadioFrame(.typeA, [request], lastByteBits: 7, hasCRC: false)
        let atqa: [UInt8]
        switch send(frame, 0) {
        case .answer(let answer) where answer.frame.count == 2: atqa = answer.frame
        case .answer, .failed: return .nothing
        case .aborted: return .aborted
        }
        var found: [UInt8] = []
        var selections: [RadioFrame] = [frame]
        for level in TypeACommand.levels.indices {
            let part: [UInt8]
            if uid.isEmpty {
                switch search(level, selections) {
                case .found(let bytes): part = bytes
                case .nothing: return .nothing
                case .aborted: return .aborted
                }
            } else {
                let known = Array(uid.dropFirst(level * 4).prefix(4))
                part = known + [known.reduce(0, ^)]
            }
            guard part.count == 5 else { return .nothing }
            let select = RadioFrame(.typeA, [TypeACommand.levels[level], TypeACommand.allBits] + part)
            selections.append(select)
            switch send(select, 0) {
            case .answer(let answer):
                guard answer.frame.count == 1, let sak = answer.frame.first else { return .nothing }
                guard sak & TypeACommand.incomplete != 0 else {
                    found += part.prefix(4)
                    let identity = TypeAIdentity(
                        uid: found, atqa: UInt16(atqa[1]) << 8 | UInt16(atqa[0]), sak: sak)
                    return identity.map { .found($0) } ?? .nothing
                }
                found += part[1..<4]
            case .failed: return .nothing
            case .aborted: return .aborted
            }
        }
        return .nothing
    }

    /// Anticollision at one level: the four bytes and BCC of a card, bit by bit where cards collide.
    ///
    /// - Parameter selections: the frames that lead to this level. A card whose bit differs from the one tried falls
    ///   back to idle, and is brought here again.
    private func search(_ level: Int, _ selections: [RadioFrame]) -> Activation<[UInt8]> {
        var bits: [Bool] = []
        while bits.count < 40 {
            switch send(TypeAInitiator.anticollision(level, bits), 0) {
            case .aborted: return .aborted
            case .failed(let status):
                guard status == ChipStatus.collision else {
                    // No card has the bit that was tried: it is the other one.
                    guard bits.last == false else { return .nothing }
                    bits[bits.count - 1] = true
                    for frame in selections where send(frame, 0) == .aborted { return .aborted }
                    continue
                }
                bits.append(false)
            case .answer(let answer):
                guard let whole = TypeAInitiator.join(bits, answer.frame) else { return .nothing }
                return .found(whole)
            }
        }
        return .nothing
    }

    /// The command with the bits known so far, the first of them in bit 1 of the first byte.
    private static func anticollision(_ level: Int, _ bits: [Bool]) -> RadioFrame {
        let known = pack(bits)
        let (bytes, rest) = (bits.count / 8, bits.count % 8)
        let valid = TypeACommand.noBits &+ UInt8(truncatingIfNeeded: bytes << 4 | rest)
        return RadioFrame(
            .typeA, [TypeACommand.levels[level], valid] + known, lastByteBits: rest == 0 ? 8 : rest, hasCRC: false)
    }

    private static func pack(_ bits: [Bool]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: (bits.count + 7) / 8)
        for (place, bit) in bits.enumerated() where bit { bytes[place / 8] |= 1 << UInt8(place % 8) }
        return bytes
    }

    /// Joins the known bits with those that a card sent after them, when they form five bytes with a right BCC.
    private static func join(_ bits: [Bool], _ answer: [UInt8]) -> [UInt8]? {
        var whole = Array(pack(bits).prefix(bits.count / 8))
        var rest = answer
        if bits.count % 8 != 0, let first = rest.first, let known = pack(bits).last { rest[0] = first | known }
        whole += rest
        return whole.count == 5 && whole.reduce(0, ^) == 0 ? whole : nil
    }

    /// HLTA, which is never answered.
    func halt() {
        _ = send(RadioFrame(.typeA, [TypeACommand.halt, 0x00]), 0)
    }

    /// RATS: brings the selected card into ISO-DEP; `nil` when it does not answer.
    package func requestAnswerToSelect(frameSizeIndex: UInt8, cid: UInt8) -> [UInt8]? {
        let frame = RadioFrame(.typeA, [TypeACommand.requestAnswerToSelect, frameSizeIndex << 4 | cid & 0x0F])
        guard case .answer(let answer) = send(frame, 0), let length = answer.frame.first,
            Int(length) == answer.frame.count
        else { return nil }
        return answer.frame
    }
}

/// The reader's side of ISO 14443-3 type B.
package struct TypeBInitiator {
    package let send: FrameExchange

    /// Creates the reader's side; frames go through `send`.
    package init(send: @escaping FrameExchange) {
        self.send = send
    }

    /// Looks once for a card in one time slot, and returns the data of its ATQB.
    package func request(applicationFamily: UInt8, isWakeUp: Bool = false) -> Activation<TypeBIdentity> {
        let parameter = isWakeUp ? TypeBCommand.wakeUp : 0
        switch send(RadioFrame(.typeB, [TypeBCommand.request, applicationFamily, parameter]), 0) {
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
    package func attribute(pupi: [UInt8], frameSizeIndex: UInt8, cid: UInt8) -> [UInt8]? {
        let frame = RadioFrame(
            .typeB, [TypeBCommand.attribute] + pupi + [0x00, frameSizeIndex & 0x0F, 0x01, cid & 0x0F])
        guard case .answer(let answer) = send(frame, 0), let first = answer.frame.first, first & 0x0F == cid else {
            return nil
        }
        return answer.frame
    }
}
