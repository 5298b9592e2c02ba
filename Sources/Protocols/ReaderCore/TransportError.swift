// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why an exchange with a card, or with the reader, failed.
@nonexhaustive
public enum TransportError: Error, Hashable, Sendable {
    /// The card did not answer: it left, or it does not support the command, the mode or the IDm.
    case noAnswer
    /// The answer was damaged (CRC, parity, framing, collision); the exchange is worth another try.
    ///
    /// `status` is the chip's own code, or 0 if the answer was damaged between reader and computer and the reader has
    /// recovered.
    case corrupted(status: UInt8)
    /// A search found no card that can be used, although something answered.
    case heard(Heard)
    /// The chip reports that the card is no longer selected.
    case cardReleased
    /// The reader did not answer in time; anything it still sends does not belong to a later command.
    case readerTimeout
    /// The reader's answer is not valid.
    case readerFailed(detail: Reason)
    /// The frame is longer than the reader can send; nothing was sent.
    case frameTooLong(length: Int, limit: Int)
    /// The answer is longer than the reader can pass on.
    case answerTooLong
    /// The card asked for more time again and again, for a minute.
    case cardTooSlow
    /// The reader cannot be used.
    case readerUnavailable(reason: UnavailableReason, detail: Reason)
    /// The reader cannot do this.
    case unsupported(detail: Reason)
    /// Work was cancelled through a ``CancellationToken``.
    case cancelled
    /// A replayed or scripted exchange was not the one expected next.
    case outOfScript(detail: Reason)

    /// Whether the same exchange may succeed if it is repeated immediately.
    public var isTransient: Bool {
        switch self {
        case .corrupted, .heard: true
        default: false
        }
    }

    /// Whether the reader can no longer be used without opening it again.
    public var isReaderError: Bool {
        switch self {
        case .readerTimeout, .readerFailed, .readerUnavailable: true
        default: false
        }
    }
}

extension TransportError {
    /// The program has closed the reader.
    public static let closed = TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))

    /// A call of the driver does not return; it is tried again once it has.
    package static let hanging = TransportError.readerUnavailable(reason: .busy, detail: .init(.hanging))

    /// The exact cause: a code and its values.
    public struct Reason: Hashable, Sendable {
        /// The cause.
        public let code: Code
        /// The values of the code, in the order in which its case documents them.
        public let values: [String]
        /// The name of the reader, if a message must name it.
        public var reader: String?

        /// Makes a reason.
        public init(_ code: Code, _ values: String..., reader: String? = nil) {
            self.init(code, values: values, reader: reader)
        }

        /// Makes a reason.
        public init(_ code: Code, values: [String], reader: String? = nil) {
            self.code = code
            self.values = values
            self.reader = reader
        }

        /// Returns the same reason for this reader.
        public func of(_ reader: String) -> Reason { Reason(code, values: values, reader: reader) }
    }
}

extension TransportError.Reason {
    /// The possible faults of a reader, a device or a service; each has a row in `Data/transport-reasons.tsv`. The raw
    /// values are the identifiers in transcripts.
    @nonexhaustive
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// External text, shown unchanged: a transcript of another version, or a test. Value: the text.
        case text

        // Missing readers.
        case closed, unplugged, takenBackByKernel, noneConnected
        /// Value: the ID.
        case notConnected
        /// Value: the path of the port.
        case silent
        case notAPaSoRi
        /// Value: the name of the reader.
        case doesNotStart
        /// Value: the libnfc name that was requested.
        case libnfcFindsNone, libnfcOpensNone

        // Device files. Value: the path; then the group, or `errno`.
        case deviceForGroup, deviceDenied, deviceInUse, deviceAbsent, noDevice, deviceNotOpened, notADevice

        // Readers in use by something else.
        case heldByProgram, heldByProgramOrService, keptByKernelDriver, working, sessionTaken, hanging
        /// Value: the name of the driver.
        case heldByKernelDriver
        /// Value: libusb's error number.
        case notClaimed

        // Failing readers.
        case invalidAnswers, fieldNotOn, fieldOff, fieldStaysOn, otherField, tooHot, overcurrent
        case transferRefused, transferTooLong, notInThisSession
        /// Value: the status byte in hexadecimal.
        case chipStatus, settingRefused, status
        /// Value: the error number of CCID.
        case commandRefused
        /// Value: the error number of the library.
        case libusb, libnfc
        /// Values: the environment variable that keeps the line slow, and the speed in baud.
        case lineTooFast

        // Operations that a reader or its driver does not support.
        case emptyFrame, commandTooLong, alwaysISODEP, libnfcRefused, noUSB, noConfiguration, noInterface
        case thisKindOfCard, typeAAndB, notTypeAOrB, sector, contactCard
        case noFeliCaThroughService, noFeliCaCommand, noType2ThroughService, noCrypto1
        /// Value: the status byte in hexadecimal.
        case commandRefusedByChip
        /// Value: libnfc's error number.
        case libnfcDriverCannot
        /// Value: the name of libnfc's driver.
        case libnfcWithoutFeliCa
        /// Value: the number of open files.
        case tooManyOpenFiles
        /// Value: `errno`.
        case noThread
        /// Value: the speed in kbit/s.
        case polling

        // Unreadable IDs.
        /// Value: the kind of reader.
        case unknownSelector
        /// Values: the kind of reader, and an example.
        case portMissing
        /// Value: the speeds that a PN532 supports.
        case unknownSpeed
        case tooManyColons
        /// Value: the longest length in bytes.
        case connectionStringTooLong
        case connectionStringWithZero, connectionStringWithColon, connectionStringUSB, connectionStringSpeed
        /// Values: the driver, and an example.
        case connectionStringPath
        /// Value: the speeds that libnfc supports.
        case connectionStringUnknownSpeed

        // The PC/SC service.
        case serviceLibraryMissing, serviceVersionMismatch
        case serviceNotRunning, serviceStopped, serviceRefusesUser, serviceKnowsNoReader, serviceKnowsNoSuchReader
        case cardInUse
        /// Value: the names.
        case ambiguous
        /// Value: the code of PC/SC in hexadecimal.
        case cardNotUnderstood, service

        // Transcripts.
        /// Value: the request.
        case transcriptEnded
        /// Values: the line, its content, and the request.
        case transcriptDiffers
        /// Values: as for ``transcriptDiffers``, and the place of the first different byte, from 0.
        case transcriptDiffersAt
        /// Value: the line.
        case transcriptLeavesOut

        /// Whether the ID names no reader that could ever exist, so that there is nothing to wait for.
        package var isAboutID: Bool {
            switch self {
            case .unknownSelector, .portMissing, .unknownSpeed, .tooManyColons, .connectionStringTooLong,
                .connectionStringWithZero, .connectionStringWithColon, .connectionStringUSB, .connectionStringSpeed,
                .connectionStringPath, .connectionStringUnknownSpeed:
                true
            default: false
            }
        }
    }
}

extension TransportError: SelfDescribing {
    /// What failed: the card's part, or the reader's with its cause.
    public var message: LocalizedText {
        switch self {
        case .noAnswer:
            LocalizedText(
                "the card did not answer: it left, or it does not accept this command",
                "カードから応答がありません（離れたか、このコマンドを受け付けません）")
        case .cardReleased: LocalizedText("the card left the reader", "カードがリーダーから離れました")
        case .corrupted: LocalizedText("the card's answer was corrupted", "カードの応答が壊れて届きました")
        case .heard(let heard): heard.message
        case .readerTimeout: LocalizedText("the reader stopped answering", "リーダーが応答しなくなりました")
        case .readerFailed(let detail):
            LocalizedText(
                "the reader reported an error: \(detail.message.english)", "リーダーが異常を知らせました（\(detail.message.japanese)）")
        case .frameTooLong(let length, let limit):
            LocalizedText(
                "a frame of \(length) bytes is longer than the \(limit) that the reader can send",
                "\(length) バイトのフレームはリーダーの上限 \(limit) を超えます")
        case .answerTooLong:
            LocalizedText("the card's answer is longer than the reader can pass on", "カードの応答がリーダーの上限を超えます")
        case .cardTooSlow:
            LocalizedText("the card takes too long: it keeps asking for more time", "カードの処理が終わりません（待ち時間の延長を求め続けています）")
        // Why is not known, so nobody else is said to use it.
        case .readerUnavailable(_, let detail) where detail.code == .hanging: detail.message
        case .readerUnavailable(let reason, let detail): reason.message(detail.message)
        case .unsupported(let detail):
            LocalizedText(
                "the reader cannot do this: \(detail.message.english)", "リーダーがこの機能に対応していません（\(detail.message.japanese)）"
            )
        case .cancelled: LocalizedText("interrupted", "中断しました")
        case .outOfScript(let detail) where detail.code == .transcriptLeavesOut: detail.message
        case .outOfScript(let detail):
            LocalizedText(
                "this recording does not match the command (\(detail.message.english))",
                "記録とコマンドが一致しません（\(detail.message.japanese)）")
        }
    }
}

extension UnavailableReason {
    fileprivate func message(_ detail: LocalizedText) -> LocalizedText {
        switch self {
        case .absent: detail
        case .busy:
            LocalizedText("the reader is in use: \(detail.english)", "リーダーは使用中です（\(detail.japanese)）")
        case .permission:
            LocalizedText("no permission to use the reader: \(detail.english)", "リーダーを開く権限がありません（\(detail.japanese)）")
        case .unsupported:
            LocalizedText("the reader cannot be used: \(detail.english)", "このリーダーは使えません（\(detail.japanese)）")
        }
    }
}

extension TransportError.Reason: SelfDescribing {
    package static let messages = MessageTable<Code>(PackageResources.transport_reasons_tsv)

    /// The cause, after the name of the reader if it has one. Values are shown unchanged.
    public var message: LocalizedText {
        let values = code == .notConnected ? values.map(TransportError.Reason.product) : values
        let message = TransportError.Reason.messages.message(code, values)
        guard let reader else { return message }
        return LocalizedText("\(reader): \(message.english)", "\(reader): \(message.japanese)")
    }

    /// The name of the product that an ID such as `rcs380` or `rcs380:port=1-1.3` asks for.
    private static func product(_ id: String) -> String {
        let parts = id.split(separator: ":", maxSplits: 1)
        let name =
            switch parts.first {
            case "rcs380": "RC-S380"
            case "rcs300": "RC-S300"
            case "rcs320": "RC-S320"
            case "rcs310": "RC-S310"
            case "acr122": "ACR122U"
            default: id
            }
        return parts.count == 2 && name != id ? "\(name) (\(parts[1]))" : name
    }
}
