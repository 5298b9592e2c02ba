// SPDX-License-Identifier: Apache-2.0

/// Why a command cannot be sent as asked.
@nonexhaustive
public enum ArgumentFlaw: Hashable, Sendable {
    /// Too few or too many entries in a list.
    case count(List, Int, allowed: ClosedRange<Int>)
    /// The command would be longer than LEN can say, 255 bytes.
    case packetTooLong(Int)
    /// The answer would be longer than LEN can say, 255 bytes.
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
