// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CPCSC
internal import NFCTransport

/// A connection to the PC/SC service, pcscd.
struct PCSCContext: ~Copyable {
    /// The service's number for it; an integer, so that ``cancel()`` may come from any thread.
    let handle: Int
    /// Gets what passes between the computer and readers.
    let recorder: LinkRecorder?

    /// The longest list of reader names that is asked for, in bytes: 16 readers with 128 bytes each, twice.
    private static let longestList = 4096

    /// Connects to the service.
    ///
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it does not run or refuses.
    init(recorder: LinkRecorder? = nil) throws(TransportError) {
        self.recorder = recorder
        var handle: SCARDCONTEXT = 0
        let code = PCSCCode(result: unsafe SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &handle))
        guard code == .success else { throw code.error }
        self.handle = handle
    }

    deinit {
        SCardReleaseContext(handle)
    }

    /// The names of the readers that the service knows.
    func readers() throws(TransportError) -> [String] {
        var buffer = [CChar](repeating: 0, count: Self.longestList)
        var count = DWORD(buffer.count)
        let code = PCSCCode(result: unsafe SCardListReaders(handle, nil, &buffer, &count))
        if code == .noReaders { return [] }
        guard code == .success else { throw code.error }
        return buffer.prefix(Int(clamping: count)).split(separator: 0).map {
            String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// Waits until a reader's state is another one than is known, for this long at most.
    ///
    /// - Returns: the state, or `nil` when it stayed as it was.
    func change(
        of reader: String, from known: CardPresence, within time: Duration
    ) throws(TransportError) -> CardPresence? {
        var state = unsafe SCARD_READERSTATE()
        unsafe state.dwCurrentState = known.state
        let milliseconds = DWORD(
            clamping: time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000)
        let result = unsafe reader.withCString { name in
            unsafe state.szReader = name
            return unsafe SCardGetStatusChange(handle, milliseconds, &state, 1)
        }
        let code = PCSCCode(result: result)
        if code == .timeout { return nil }
        guard code == .success else { throw code.error }
        let length = Int(clamping: unsafe state.cbAtr)
        let atr = unsafe withUnsafeBytes(of: &state.rgbAtr) { unsafe Array($0.prefix(length)) }
        if !atr.isEmpty { recorder?.record(.note("ATR \(Hex.encode(atr))")) }
        return unsafe CardPresence(state: state.dwEventState, atr: atr)
    }

    /// Ends a wait that another thread is in.
    static func cancel(_ handle: Int) {
        SCardCancel(handle)
    }
}
