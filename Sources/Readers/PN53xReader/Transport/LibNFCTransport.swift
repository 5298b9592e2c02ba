// SPDX-License-Identifier: Apache-2.0

internal import CLibNFC
internal import Glibc
internal import ReaderCore
internal import SystemDevices

/// A PN53x opened by libnfc, which handles framing and checksums. The device closes at the end of the transport's life,
/// or earlier through ``close()``.
final class LibNFCTransport: PN53xTransport {
    let family: ReaderFamily
    let port: SerialPort?
    let patience: Int
    private let handle: DeviceHandle
    /// The devices detached from kernel drivers; they are reattached once the device is closed.
    private let detachment: KernelDriverDetachment?
    /// The reset that the chip needs after libnfc has closed it, if any.
    private let chipReset: RCS956Reset?
    /// Receives libnfc's log.
    private let recorder: LinkRecorder?
    /// Whether a reader on the USB is still connected. libnfc has one code for that and for a damaged answer.
    private let isConnected: (@Sendable () -> Bool)?
    private var isOpen = true

    /// libnfc copies a command into 264 bytes on its stack without a check; more than 262 crash the process.
    static let longestCommand = 262
    /// libnfc's own buffer for an answer: 264 bytes of data after the response code, and room to spare.
    private static let answerCapacity = 300

    /// Wraps a device that ``LibNFCContext`` opened.
    init(
        _ handle: DeviceHandle, family: ReaderFamily, port: SerialPort? = nil, patience: Int = 1,
        detachment: consuming KernelDriverDetachment? = nil, chipReset: RCS956Reset? = nil,
        recorder: LinkRecorder? = nil, isConnected: (@Sendable () -> Bool)? = nil
    ) {
        self.handle = handle
        self.family = family
        self.port = port
        self.patience = patience
        self.detachment = detachment
        self.chipReset = chipReset
        self.recorder = recorder
        self.isConnected = isConnected
        if family.reachesChip { completeRegisters() }
    }

    /// The radio's registers in which libnfc sets a bit when it opens a chip, with the values that it then has after a reset:
    /// TxMode, RxMode (CRC on), ManualRCV (parity on), Status2 (no Crypto1) and BitFraming (whole bytes).
    private static let registers: [(address: UInt16, value: UInt8)] = [
        (0x6302, 0x80), (0x6303, 0x80), (0x630D, 0x00), (0x6338, 0x00), (0x633D, 0x00),
    ]

    /// Gives the registers that libnfc is about to change a value for every bit, so that it does not read them first: on a serial
    /// line that command takes 3 ms. Each search sets the speed and framing again.
    private func completeRegisters() {
        for (address, value) in Self.registers {
            _ = unsafe pn53x_write_register(handle.pointer, address, 0xFF, value)
        }
    }

    deinit {
        closeDevice()
    }

    var isGone: Bool { port?.isGone ?? !(isConnected?() ?? true) }

    /// libnfc's name for the reader.
    var name: String {
        guard isOpen, let text = unsafe nfc_device_get_name(handle.pointer) else { return "" }
        return unsafe String(cString: text)
    }

    /// An RC-S956 accepts SetParameters only while it is being opened.
    var takesParameters: Bool { chipReset == nil }

    /// libnfc has set the chip's time-out and RATS.
    var initialState: ChipState { ChipState(timeout: .initial, sendsRATS: true) }

    /// `nfc_close` releases the card and switches the field off itself.
    var closingCommands: [[UInt8]] { [] }

    var abort: @Sendable () -> Void { { [handle] in handle.abort() } }

    /// Sends one raw PN53x command and returns its answer. A command that would crash libnfc is not sent.
    func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer {
        guard isOpen, !command.isEmpty, command.count <= Self.longestCommand else {
            return ChipAnswer(outcome: ChipResult(result: NFC_EINVARG, status: 0, overUSB: false), bytes: [])
        }
        let timeout = HostTimeout(waiting: time, overUSB: family.isUSB, patience: patience)
        // Zeros, because libnfc reads the first byte even when the chip sent none.
        var answer = [UInt8](repeating: 0, count: Self.answerCapacity)
        let start = ContinuousClock.now
        let result = LibNFCContext.recorded(recorder) {
            unsafe kazasu_transceive(
                handle.pointer, command, command.count, &answer, answer.count, timeout.milliseconds)
        }
        guard Int(result) != KAZASU_NFC_ABORTED else {
            return ChipAnswer(outcome: .readerInDoubt(ChipResult.damagedOnTheWay), bytes: [])
        }
        let isLate = ContinuousClock.now - start >= .milliseconds(timeout.milliseconds)
        return ChipAnswer(libnfc: result, answer, to: command, through: family, isLate: isLate)
    }

    /// Nothing to forget: an abort applies to the running call only.
    func ignoreAbort() {}

    func close() {
        guard closeDevice() else { return }
        chipReset?.run()
    }

    @discardableResult
    private func closeDevice() -> Bool {
        guard isOpen else { return false }
        isOpen = false
        LibNFCContext.recorded(recorder) { unsafe nfc_close(handle.pointer) }
        handle.pipe?.close()
        return true
    }
}

extension ChipAnswer {
    /// Interprets what `pn53x_transceive` returned.
    ///
    /// Its I²C driver reports a time-out as its last error instead: as success without data, mostly, which libnfc's own
    /// calls then make an overflow of, "Buffer size is too short" (rubund/mrtdreader issue 3). An answer that came has
    /// fewer bytes than the buffer, so an overflow is always that.
    ///
    /// - Parameters:
    ///   - result: its value: the number of bytes, or negative.
    ///   - answer: the buffer for the answer, zeros where nothing came.
    ///   - isLate: whether the whole time that the chip was given has passed.
    init(libnfc result: Int32, _ answer: [UInt8], to command: [UInt8], through family: ReaderFamily, isLate: Bool) {
        let mayBeTimeout = result == NFC_EOVFLOW || isLate && result <= 0 && result != NFC_EOPABORTED
        let hasTimedOut = family.forgetsTimeouts && mayBeTimeout
        let status = ChipCommand.answersWithStatus(command) ? answer.first ?? 0 : 0
        self.init(
            outcome: ChipResult(result: hasTimedOut ? NFC_ETIMEOUT : result, status: status, overUSB: family.isUSB),
            bytes: Array(answer.prefix(max(Int(result), 0))), status: status,
            mayBeRefusal: result == NFC_EIO && !hasTimedOut)
    }
}

/// The address of an open libnfc device. libnfc allows one operation from a thread other than the owner's: ending the
/// call that blocks there.
///
/// Its owner ensures that the device outlives it: a cancellation token's handler is removed before the device is
/// closed.
@safe struct DeviceHandle: @unchecked Sendable {
    /// libnfc's pointer.
    @unsafe let pointer: OpaquePointer
    /// The pipe of an abort; `nil` where the driver needs none.
    let pipe: AbortPipe?

    /// Wraps this device.
    @unsafe init(_ pointer: OpaquePointer, _ pipe: AbortPipe?) {
        unsafe self.pointer = pointer
        self.pipe = pipe
    }

    /// Ends the running call. On a serial port, a later call is not affected.
    func abort() {
        guard let pipe else {
            _ = unsafe nfc_abort_command(pointer)
            return
        }
        pipe.abort { _ = unsafe nfc_abort_command(pointer) }
    }
}

/// How long the host waits for the chip, in libnfc's milliseconds.
///
/// libnfc's USB drivers wait 200 ms less than the value, and 200 ms or less mean no wait at all there; 0 means forever
/// and −1 a default. This type cannot produce any of these.
struct HostTimeout: Hashable, Sendable {
    /// The value for libnfc.
    let milliseconds: Int32

    /// The time that the USB drivers subtract.
    static let lossOnUSB = 200

    private static let longest = Duration.seconds(600)

    /// Waits for this long in effect, rounded up, and for a millisecond at least; at most about ten minutes.
    ///
    /// - Parameter patience: a factor on the time; more than 1 only where the machine may be too busy to answer in
    ///   time.
    init(waiting time: Duration, overUSB: Bool, patience: Int = 1) {
        let longest = min(time, Self.longest) * patience
        let milliseconds = min(longest, Self.longest).count(of: .milliseconds(1), roundedUp: true)
        self.milliseconds = Int32(clamping: max(milliseconds, 1) + (overUSB ? Self.lossOnUSB : 0))
    }
}
