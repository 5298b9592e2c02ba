// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
public import NFCTransport

/// A reader on a virtual field, without a chip between them: for fast tests of all that reads cards.
public final class InProcessReader: Reader {
    /// The longest frame that it sends: what libnfc can be given, too.
    public static let longestFrame = 262

    /// What it says of itself.
    public let information: ReaderInformation
    /// The field that it lies in.
    public let field: VirtualField
    /// How often ``activate(_:)`` was called.
    public private(set) var activations = 0
    /// How often ``transceive(_:timeout:)`` was called.
    public private(set) var transceives = 0
    private let cancellation: CancellationToken
    private var selected: FeliCaTarget?
    private var isClosed = false

    /// A reader on a field.
    public init(
        _ field: VirtualField,
        information: ReaderInformation = ReaderInformation(id: "in-process", name: "Virtual reader"),
        cancellation: CancellationToken = CancellationToken()
    ) {
        self.field = field
        self.information = information
        self.cancellation = cancellation
    }

    /// A reader with these cards before it.
    public convenience init(_ cards: any VirtualCard...) {
        self.init(VirtualField(cards: cards))
    }

    /// Sends one Polling; an answer that is damaged or no Polling answer counts as none, as a PN53x takes it.
    public func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        activations += 1
        selected = nil
        try check()
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            guard information.feliCaBitRates.contains(bitRate) else {
                throw .unsupported(detail: "polling at \(bitRate.rawValue) kbit/s")
            }
            var polling = ByteWriter([0x06, 0x00])
            polling.write(system.rawValue, .big)
            polling.write(requestCode)
            polling.write(timeSlots)
            guard case .answer(let answer) = field.exchange(polling.bytes, at: bitRate) else { return nil }
            selected = InProcessReader.target(answer.frame, bitRate)
            return selected.map { .felica($0) }
        case .typeA, .typeB: throw .unsupported(detail: "cards of type A and B")
        }
    }

    /// Sends one frame to the card that was activated last.
    ///
    /// An answer that the card takes longer for than `timeout` is ``NFCTransport/TransportError/noAnswer``; nobody
    /// waits for it.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        transceives += 1
        try check()
        guard let selected else { throw .cardReleased }
        guard frame.count <= InProcessReader.longestFrame else {
            throw .frameTooLong(length: frame.count, limit: InProcessReader.longestFrame)
        }
        switch field.exchange(frame, at: selected.bitRate) {
        case .silence: throw .noAnswer
        case .damaged(let status): throw .corrupted(status: status)
        case .answer(let answer):
            guard answer.thinkingTime <= timeout else { throw .noAnswer }
            guard answer.frame.count <= information.longestFeliCaAnswer else { throw .answerTooLong }
            return answer.frame
        }
    }

    /// Switches the field off.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        selected = nil
        field.switchOff()
    }

    private func check() throws(TransportError) {
        try cancellation.check()
        if isClosed { throw .readerFailed(detail: "the reader was closed") }
    }

    private static func target(_ frame: [UInt8], _ bitRate: FeliCaBitRate) -> FeliCaTarget? {
        var answer = ByteReader(frame)
        guard let length = try? answer.readUInt8(), Int(length) == frame.count, (try? answer.readUInt8()) == 0x01,
            let idm = try? answer.readUInt64(.big), let pmm = try? answer.readUInt64(.big)
        else { return nil }
        return FeliCaTarget(
            idm: IDm(rawValue: idm), pmm: PMm(rawValue: pmm), requestData: try? answer.readUInt16(.big),
            bitRate: bitRate)
    }
}
