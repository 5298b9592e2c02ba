// SPDX-License-Identifier: Apache-2.0

internal import FeliCa

/// What a card that is there said to a command.
enum CardReply<Value> {
    /// The answer.
    case value(Value)
    /// It refused with these status flags.
    case refused(StatusFlags)
    /// It kept silent twice although it answers a Polling: it does not know the command, or not in this form.
    case silent
}
