// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a response APDU.
@nonexhaustive
public enum ResponseFlaw: Hashable, Sendable {
    /// Fewer than the two bytes of the status word.
    case tooShort(length: Int)
    /// GET RESPONSE gave no byte, more than was promised in all, or never came to an end.
    case endlessResponse
    /// The data field has another length than the command asked for.
    case dataLength(expected: Int, received: Int)
    /// The data field is not the data object that the command asks for.
    case notADataObject
}
