// SPDX-License-Identifier: Apache-2.0

/// How the reader's side of ISO 14443 sends a frame and hears what comes back.
///
/// The second parameter is the WTXM of a waiting time extension that this frame grants: how many times the usual time
/// is waited; 0 for all other frames.
typealias Air = (RadioFrame, Int) -> AirReply
