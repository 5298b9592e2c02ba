// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import ReaderCore

/// Why a FeliCa command gave no result.
@nonexhaustive
public enum FeliCaError: Error, Hashable, Sendable {
    /// The exchange itself failed; a card that does not answer is ``TransportError/noAnswer``.
    case transport(TransportError)
    /// The card's answer to this command violates the packet format; none of it was used.
    case malformed(CommandCode, FeliCaError.Reason)
    /// The card refused.
    case status(StatusFlags)
    /// The command cannot be sent in this form; nothing was sent.
    case invalidArgument(FeliCaError.ArgumentReason)

    /// The card's status flags, when it refused.
    public var statusFlags: StatusFlags? {
        if case .status(let flags) = self { flags } else { nil }
    }

    /// Whether the card did not answer: it left, or it does not support the command, the mode or the IDm.
    public var isSilence: Bool { self == .transport(.noAnswer) }
}

extension FeliCaError {
    /// The faults of an answer.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// There is no byte at all.
        case empty
        /// The LEN byte does not match the number of bytes received.
        case length(declared: Int, received: Int)
        /// It answers another command; contains the byte or two bytes in place of the response code.
        case responseCode(UInt16)
        /// It came from another card, or another system of the card.
        case idm(IDm)
        /// A field is truncated; `missing` more bytes were needed.
        case tooShort(missing: Int)
        /// `extra` bytes came after the last field.
        case trailingBytes(extra: Int)
        /// It contains a different number of entries than requested.
        case count(expected: Int, received: Int)
        /// A field has a value that its definition does not allow.
        case value(Field, UInt16)
        /// Echo: the bytes returned are not those that were sent.
        case echo

        /// Fields with few valid values.
        @nonexhaustive
        public enum Field: Hashable, Sendable {
            /// The mode in Request Response, 0 to 3.
            case mode
            /// The format version in Request Specification Version, 0.
            case formatVersion
        }
    }
}

extension FeliCaError {
    /// Why a command cannot be sent as requested.
    @nonexhaustive
    public enum ArgumentReason: Hashable, Sendable {
        /// Too few or too many entries in a list.
        case count(List, Int, allowed: ClosedRange<Int>)
        /// The command would be longer than the 255 bytes that LEN can express.
        case packetTooLong(Int)
        /// The answer would be longer than the 255 bytes that LEN can express.
        case answerTooLong(Int)
        /// Element `element` of the Block List names a service (counted from 0) that is not in the Service Code List.
        case serviceIndex(Int, element: Int)

        /// The lists that commands carry.
        @nonexhaustive
        public enum List: Hashable, Sendable {
            /// The Node Code List.
            case nodes
            /// The Service Code List.
            case services
            /// The Block List.
            case blocks
            /// The blocks to write, one for each element of the Block List.
            case blockData
            /// The bytes of an Echo.
            case echoData
        }
    }
}

extension FeliCaError: SelfDescribing {
    /// What failed: the exchange, the answer, or the command.
    public var message: LocalizedText {
        switch self {
        case .transport(let error): error.message
        case .malformed(let command, let fault):
            LocalizedText(
                "the card's answer violates the protocol (\(command.title): \(fault.message.english))",
                "カードの応答が規格に合いません（\(command.title): \(fault.message.japanese)）")
        case .status(let flags): flags.refusal(of: LocalizedText("the command", "コマンド"))
        case .invalidArgument(let reason):
            LocalizedText(
                "the command cannot be sent: \(reason.message.english)", "コマンドを送れません: \(reason.message.japanese)")
        }
    }
}

extension FeliCaError.Reason: SelfDescribing {
    /// The fault of the answer, without data of the card.
    public var message: LocalizedText {
        switch self {
        case .empty: LocalizedText("it is empty", "空の応答")
        case .length, .tooShort, .trailingBytes: LocalizedText("its length is wrong", "長さの誤り")
        case .responseCode: LocalizedText("its response code is wrong", "レスポンスコードの誤り")
        case .idm: LocalizedText("it carries another card's IDm", "別のカードの IDm")
        case .count: LocalizedText("its count is wrong", "個数の誤り")
        case .value, .echo: LocalizedText("a value in it is wrong", "値の誤り")
        }
    }
}

extension FeliCaError.ArgumentReason: SelfDescribing {
    /// What is out of range.
    public var message: LocalizedText {
        switch self {
        case .count(let list, let count, let allowed):
            LocalizedText(
                "\(count) \(list.name.english) instead of \(allowed.lowerBound) to \(allowed.upperBound)",
                "\(list.name.japanese)の数 \(count) が範囲外です（\(allowed.lowerBound)～\(allowed.upperBound)）")
        case .packetTooLong(let length):
            LocalizedText("\(length) bytes are longer than a packet of 255", "\(length) バイトはパケットの上限 255 を超えます")
        case .answerTooLong(let length):
            LocalizedText(
                "an answer of \(length) bytes would be longer than a packet of 255",
                "応答 \(length) バイトがパケットの上限 255 を超えます")
        case .serviceIndex(let index, let element):
            LocalizedText(
                "block \(element) of the list names service \(index), which is not in the list of services",
                "ブロックリストの \(element) 番目が、リストにないサービス \(index) を指しています")
        }
    }
}

extension FeliCaError.ArgumentReason.List {
    fileprivate var name: LocalizedText {
        switch self {
        case .nodes: LocalizedText("nodes", "ノード")
        case .services: LocalizedText("services", "サービス")
        case .blocks: LocalizedText("blocks", "ブロック")
        case .blockData: LocalizedText("blocks of data", "データのブロック")
        case .echoData: LocalizedText("bytes to echo", "エコーのバイト")
        }
    }
}
