// SPDX-License-Identifier: Apache-2.0

import ByteCodec
internal import VirtualCards

extension PN532Chip {
    /// Frames of 64 bytes, the size of the chip's FIFO, as an index for RATS and ATTRIB.
    private static let frameSizeIndex: UInt8 = 5

    /// Looks for cards of type A and returns the data of up to two targets, each without its number.
    ///
    /// The first is halted when a second is searched for, or stays in ISO-DEP, where it does not answer a REQA. A card
    /// whose UID the host names is woken, too: libfreefare uses this to select a card that it has just halted, with the
    /// field on.
    func lookForTypeA(_ count: Int, uid: [UInt8] = [], where fits: (TypeAIdentity) -> Bool = { _ in true })
        -> TargetSearchResult
    {
        registers.isFieldOn = true
        registers.prepareTypeA()
        var look = TargetSearchResult()
        while look.targets.count < count {
            switch activateTypeA(number: look.targets.count, uid: uid, fits) {
            case .aborted: return TargetSearchResult(isAborted: true)
            case .nothing:
                if look.targets.isEmpty { registers.leaveRequestA() }
                return wake(first: look)
            case .found(let found):
                look.targets.append(found.target)
                look.data.append(found.data)
            }
            if look.targets.count < count, case .typeA? = look.targets.last?.kind {
                TypeAInitiator(send: sendForExchange).halt()
                look.targets[look.targets.count - 1].isAsleep = true
            }
        }
        return look
    }

    /// When no second card was found, the first is selected again.
    private func wake(first look: TargetSearchResult) -> TargetSearchResult {
        guard var target = look.targets.last, target.isAsleep else { return look }
        guard resume(&target) else { return look }
        var look = look
        look.targets[look.targets.count - 1] = target
        return look
    }

    private func activateTypeA(
        number: Int, uid: [UInt8], _ fits: (TypeAIdentity) -> Bool
    ) -> Search<(target: SelectedTarget, data: [UInt8])> {
        let initiator = TypeAInitiator { frame, _ in
            self.transmit(frame, within: .look(number == 0 ? TimeModel.emptyTypeA : .zero))
        }
        let identity: TypeAIdentity
        switch initiator.activate(isWakeUp: !uid.isEmpty, uid: uid) {
        case .aborted: return .aborted
        case .nothing: return .nothing
        case .found(let found): identity = found
        }
        guard fits(identity) else {
            // A selected card does not answer a REQA; this one resets it, so that the next search finds it.
            let request = RadioFrame(.typeA, [TypeACommand.request], lastByteBits: 7, hasCRC: false)
            return transmit(request, within: .look(.zero)) == .aborted ? .aborted : .nothing
        }
        let atqa = [UInt8(truncatingIfNeeded: identity.atqa >> 8), UInt8(truncatingIfNeeded: identity.atqa)]
        let data = atqa + [identity.sak, UInt8(truncatingIfNeeded: identity.uid.count)] + identity.uid
        guard activatesISODEP, identity.sak & TypeACommand.speaksISODEP != 0 else {
            return .found((SelectedTarget(kind: .typeA(identity)), data))
        }
        guard let (session, ats) = enterISODEP(number: UInt8(truncatingIfNeeded: number)) else { return .nothing }
        return .found((SelectedTarget(kind: .isoDEP(session, identity)), data + ats))
    }

    /// RATS; the second target needs a separate number.
    private func enterISODEP(number: UInt8) -> (session: ISODEPSession, ats: [UInt8])? {
        let initiator = TypeAInitiator(send: sendForExchange)
        guard let ats = initiator.requestAnswerToSelect(frameSizeIndex: Self.frameSizeIndex, cid: number) else {
            return nil
        }
        let parameters = ISODEPParameters(ats: ats)
        guard number == 0 || parameters.supportsCID else { return nil }
        return (ISODEPSession(.typeA, parameters, cid: number == 0 ? nil : number), ats)
    }

    /// Looks once for a card of type B: ATQB and the answer to ATTRIB.
    ///
    /// The firmware sends ATTRIB with CID 1 (nfcpy's notes).
    func lookForTypeB(_ family: UInt8) -> TargetSearchResult {
        registers.prepareTypeB()
        coldRequestsB += 1
        guard coldRequestsB > quirks.coldRequestsB else { return TargetSearchResult() }
        let initiator = TypeBInitiator { frame, _ in
            self.transmit(frame, within: .look(TimeModel.emptyTypeB))
        }
        let card: TypeBIdentity
        switch initiator.request(applicationFamily: family) {
        case .aborted: return TargetSearchResult(isAborted: true)
        case .nothing: return TargetSearchResult()
        case .found(let found): card = found
        }
        let pupi = card.pupi ?? []
        let parameters = ISODEPParameters(card)
        let cid: UInt8 = parameters.supportsCID ? 1 : 0
        let attribute = TypeBInitiator(send: sendForExchange)
        guard let answer = attribute.attribute(pupi: pupi, frameSizeIndex: Self.frameSizeIndex, cid: cid) else {
            return TargetSearchResult()
        }
        let session = ISODEPSession(.typeB, parameters, cid: cid == 0 ? nil : cid)
        let data = [TypeBCommand.halt] + pupi + card.applicationData + card.protocolInfo
        return TargetSearchResult(
            targets: [SelectedTarget(kind: .isoDEP(session, nil))],
            data: [data + [UInt8(truncatingIfNeeded: answer.count)] + answer])
    }

    /// Returns a halted card to its previous state; returns whether it is there.
    func resume(_ target: inout SelectedTarget) -> Bool {
        let initiator = TypeAInitiator(send: sendForExchange)
        switch target.kind {
        case .felica: break
        case .typeA(let identity), .isoDEP(_, let identity?):
            registers.prepareTypeA()
            let tags = identity.levels.flatMap { $0.prefix(4) }
            guard case .found(let found) = initiator.activate(isWakeUp: true, uid: tags), found.uid == identity.uid
            else { return false }
            if case .isoDEP = target.kind {
                guard let (session, _) = enterISODEP(number: 0) else { return false }
                target.kind = .isoDEP(session, identity)
            }
        case .isoDEP(_, nil): return false
        }
        target.isAsleep = false
        return true
    }

    /// Releases a card: DESELECT or HLTA.
    func halt(_ target: SelectedTarget) {
        switch target.kind {
        case .felica: break
        case .typeA: TypeAInitiator(send: sendHalt).halt()
        case .isoDEP(let session, _):
            registers.prepare(for: session)
            _ = session.deselect(sendForExchange)
        }
    }

    /// HLTA is never answered, so there is no wait for an answer.
    private var sendHalt: FrameExchange { { frame, _ in self.transmit(frame, within: .look(.zero)) } }
}
