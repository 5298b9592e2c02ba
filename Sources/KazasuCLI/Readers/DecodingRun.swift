// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import CardReading
import FeliCa
import NFCTransport

/// Reads from the card in the field just what decoders ask for, in the order of the decoders.
struct DecodingRun {
    let session: ReaderSession
    let decoders: [any CardDecoder]

    /// How many systems are polled for by name; a card with none of them is asked for its list.
    private static let polledByName = 2

    /// Waits for a card with the system of one of the decoders; then lets each decoder whose system is there read and
    /// decode.
    ///
    /// - Parameter all: go on after the first report.
    /// - Returns: the reports in the decoders' order.
    /// - Throws: ``CommandError`` when there is none.
    func run<Report>(
        all: Bool, reads: (any CardDecoder) -> [ReadRequest],
        decode: (any CardDecoder, CardDump) throws(CardDecodingError) -> Report
    ) throws(CommandError) -> [Report] {
        let codes = CardKind.systems(decoders)
        let byName = codes.count <= DecodingRun.polledByName
        let (target, first) = try session.find(
            byName ? codes : codes.prefix(DecodingRun.polledByName) + [.any], requestCode: byName ? 0 : 1)
        let card = session.card(target)
        var reports: [Report] = []
        var failure: CommandError?
        for code in try systems(codes, first: first, all: all, target, card) {
            guard let system = try system(code, first: first, target, card) else { continue }
            for decoder in decoders where decoder.system == code {
                do throws(CommandError) {
                    let dump = try read(reads(decoder), of: system, card)
                    do throws(CardDecodingError) {
                        reports.append(try decode(decoder, dump))
                    } catch {
                        throw CommandError(error)
                    }
                    if !all { return reports }
                } catch {
                    if error.status != .refused && error.status != .otherCard { throw error }
                    // What the card has and does not give says more than what it has not.
                    if failure == nil || failure?.reason == DecodingRun.noSuchService { failure = error }
                }
            }
        }
        if !reports.isEmpty { return reports }
        guard let failure else { throw CommandError.otherCard(target, wanted: byName ? codes : []) }
        throw failure.reason == DecodingRun.noSuchService ? notOne(first == .any ? nil : first) : failure
    }

    private static let noSuchService = "noSuchService"

    /// The card has a system of a decoder's, but none of the services: it is another card.
    private func notOne(_ system: SystemCode?) -> CommandError {
        let found = system.map { CardNames.mention($0) } ?? "FeliCa"
        let names = decoders.map { $0.name[Language.current] }.joined(separator: ", ")
        return CommandError(
            .otherCard, "otherCard",
            decoders.count > 3
                ? tr(
                    "a card is there (\(found)), but not one that this command knows",
                    "カードはあります（\(found)）が、このコマンドが知らない種類です")
                : tr("a card is there (\(found)), but it is no \(names)", "カードはあります（\(found)）が、\(names) ではありません"),
            hint: tr("'kazasu scan' shows what is on it", "'kazasu scan' で中身を確認できます"))
    }

    /// The systems to try, in the decoders' order. Where one was polled for and is enough, the card is asked no more.
    private func systems(
        _ codes: [SystemCode], first: SystemCode, all: Bool, _ target: FeliCaTarget, _ card: CardSession
    ) throws(CommandError) -> [SystemCode] {
        if codes.count <= DecodingRun.polledByName || first != .any && !all {
            return [first] + codes.filter { $0 != first && codes.count <= DecodingRun.polledByName }
        }
        do throws(ReadingError) {
            let listed = try card.systemCodes()
            return codes.filter { listed.contains($0) }
        } catch {
            throw CommandError(error)
        }
    }

    private func system(
        _ code: SystemCode, first: SystemCode, _ target: FeliCaTarget, _ card: CardSession
    ) throws(CommandError) -> SystemHandle? {
        if code == first { return SystemHandle(code: code, idm: target.idm, pmm: target.pmm) }
        do throws(ReadingError) {
            guard let found = try card.poll(code), found.idm.isSameCard(as: target.idm) || found.pmm == target.pmm
            else {
                return nil
            }
            return SystemHandle(code: code, idm: found.idm, pmm: found.pmm)
        } catch {
            throw CommandError(error)
        }
    }

    /// A dump of just these blocks.
    private func read(
        _ requests: [ReadRequest], of system: SystemHandle, _ card: CardSession
    ) throws(CommandError) -> CardDump {
        let outcome = card.read(
            requests.map { request in
                request.blocks.count == 1
                    ? ServiceRequest(request.service, .these(Array(request.blocks)))
                    : ServiceRequest(request.service, .first(request.blocks.count))
            }, of: system)
        if let interruption = outcome.interruption { throw CommandError(interruption) }
        for request in requests where request.isRequired {
            if let refusal = outcome.refusals[request.service] ?? outcome.absent[request.service]?[0] {
                var failure = CommandError(
                    refusal: refusal, tr("service \(request.service)", "サービス \(request.service)"))
                if case .flags(let flags) = refusal, flags.flag2 == .noSuchNode {
                    (failure.status, failure.reason) = (.otherCard, DecodingRun.noSuchService)
                }
                throw failure
            }
        }
        return CardDump(
            card: CardIdentity(
                technology: .felica, idm: system.idm, pmm: system.pmm, bitRate: card.target.bitRate.rawValue),
            systems: [
                SystemDump(systemCode: system.code, idm: system.idm, pmm: system.pmm, services: outcome.services)
            ])
    }
}

extension CommandError {
    /// Why a decoder found no answer.
    init(_ error: CardDecodingError) {
        self.init(
            .otherCard, "notDecoded", error.message[Language.current],
            hint: tr("'kazasu dump -o card.json' keeps what is on it", "'kazasu dump -o card.json' で中身を保存できます"))
    }
}

/// What all decoders that know a dump make of it.
struct Decoding {
    var reports: [CardReport] = []
    var failures: [CommandError] = []

    init(_ dump: CardDump, _ names: any StationNames) {
        for decoder in DecoderRegistry.standard.recognising(dump) {
            do {
                reports.append(try decoder.decode(dump, stations: names))
            } catch {
                failures.append(CommandError(error))
            }
        }
    }
}
