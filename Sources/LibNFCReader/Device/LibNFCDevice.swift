// SPDX-License-Identifier: Apache-2.0

internal import CLibNFC
internal import NFCTransport

/// An open libnfc device. It closes at the end of its life, or before through ``close()``.
///
/// Every call of libnfc that concerns an open reader is in this file.
struct LibNFCDevice: ~Copyable {
    /// What ends a blocked call from another thread; not to be used once the device is closed.
    let handle: DeviceHandle
    /// Gets what libnfc logs.
    private let recorder: LinkRecorder?

    /// libnfc copies a command into 264 bytes on its stack without looking; more than 262 end the process.
    static let longestCommand = 262
    /// libnfc's own buffer for an answer: 264 bytes of data after the response code, and room to spare.
    private static let answerCapacity = 300

    /// Takes what `nfc_open` returned.
    init(_ handle: DeviceHandle, recorder: LinkRecorder? = nil) {
        self.handle = handle
        self.recorder = recorder
    }

    deinit {
        LibNFCContext.recorded(recorder) { unsafe nfc_close(handle.pointer) }
        handle.pipe?.close()
    }

    /// What libnfc calls it.
    var name: String {
        guard let text = unsafe nfc_device_get_name(handle.pointer) else { return "" }
        return unsafe String(cString: text)
    }

    /// Sends one raw PN53x command and returns its answer. A command that libnfc could not survive is not sent.
    func transceive(_ command: [UInt8], timeout: HostTimeout) -> ChipAnswer {
        guard !command.isEmpty, command.count <= Self.longestCommand else {
            return ChipAnswer(result: NFC_EINVARG, status: 0, bytes: [])
        }
        // Zeros, because libnfc looks at the first byte even when the chip sent none.
        var answer = [UInt8](repeating: 0, count: Self.answerCapacity)
        let result = LibNFCContext.recorded(recorder) {
            unsafe pn53x_transceive(
                handle.pointer, command, command.count, &answer, answer.count, timeout.milliseconds)
        }
        let count = min(max(Int(result), 0), answer.count)
        return ChipAnswer(result: result, status: answer.first ?? 0, bytes: Array(answer.prefix(count)))
    }

    /// Closes it.
    consuming func close() {}
}
