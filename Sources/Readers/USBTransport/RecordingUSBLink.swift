// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// A link that forwards everything to another one and records every transfer.
package final class RecordingUSBLink: USBLink {
    private let link: any USBLink
    private let recorder: LinkRecorder

    package init(_ link: any USBLink, _ recorder: LinkRecorder) {
        self.link = link
        self.recorder = recorder
    }

    package func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
        recorder.record(.sent(bytes))
        do throws(USBError) {
            try link.send(bytes, within: time)
        } catch {
            recorder.record(.failed(error.word))
            throw error
        }
    }

    package func receive(within time: Duration) throws(USBError) -> [UInt8] {
        do throws(USBError) {
            let bytes = try link.receive(within: time)
            recorder.record(.received(bytes))
            return bytes
        } catch {
            recorder.record(.failed(error.word))
            throw error
        }
    }

    package func ignoreCancellation() { link.ignoreCancellation() }

    package func close() { link.close() }
}

extension USBError {
    /// The error's keyword in a recording.
    package var word: String {
        switch self {
        case .timedOut: "timedOut"
        case .stalled: "stalled"
        case .overflow: "overflow"
        case .gone: "gone"
        case .taken: "taken"
        case .cancelled: "cancelled"
        case .failed(let code): "failed \(code)"
        }
    }
}
