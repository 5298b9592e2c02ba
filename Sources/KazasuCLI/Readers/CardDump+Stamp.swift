// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport

extension CardDump {
    /// Notes what read it, when, and with which reader.
    mutating func stamp(_ session: ReaderSession) {
        tool = "kazasu \(Kazasu.version)"
        readAt = Clock.localTime()
        reader = session.reader.information.id
    }
}
