// SPDX-License-Identifier: Apache-2.0

/// One thing that goes wrong between a simulated USB reader and its host.
public enum USBFault: Hashable, Sendable {
    /// The command is lost: no acknowledgement, no answer.
    case nothing
    /// The acknowledgement comes, the answer does not.
    case acknowledgeOnly
    /// The answer comes without an acknowledgement before it.
    case noAcknowledge
    /// The answer comes twice.
    case twice
    /// Acknowledgement and answer come only when the host has asked for them in vain.
    case late
    /// The acknowledgement comes in time, the answer only when the host has asked for it in vain.
    case lateAnswer
    /// The checksum of the answer's data is wrong.
    case wrongDataChecksum
    /// The checksum of the answer's length is wrong.
    case wrongLengthChecksum
    /// Only the first bytes of the answer come.
    case truncated(to: Int)
    /// These bytes come in the place of the answer.
    case garbage([UInt8])
    /// The answer is another command's.
    case wrongCode
    /// The chip says that it could not read the command.
    case errorFrame
    /// From now on nothing comes any more.
    case dead
    /// The reader says that it is at work for somebody else. Of a Port-400 only.
    case busy
    /// The reader asks for more time, twice, before it answers. Of a Port-400 only.
    case moreTime
    /// The answer has another command's number. Of a Port-400 only.
    case wrongSequence
    /// Another program has a session with the reader. Of a Port-400 only.
    case sessionTaken
}
