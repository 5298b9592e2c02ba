// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CPCSC
internal import ReaderCore

/// A connection to the PC/SC service, pcscd.
struct PCSCContext: ~Copyable {
    /// The service's handle; an integer, so that ``cancel()`` can be called from any thread.
    let handle: Int
    /// Receives the traffic between the computer and readers.
    let recorder: LinkRecorder?

    /// The longest list of reader names that is requested, in bytes: 16 readers with 128 bytes each, twice.
    private static let longestList = 4096

    /// Connects to the service.
    ///
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it does not run or refuses.
    init(recorder: LinkRecorder? = nil) throws(TransportError) {
        guard kazasu_has_pcsclite() != 0 else {
            throw .readerUnavailable(reason: .absent, detail: .init(.serviceLibraryMissing))
        }
        var handle: SCARDCONTEXT = 0
        let code = PCSCCode(result: unsafe SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &handle))
        // What pcscd answers to the version of a client that it does not know (pcsc-lite, `ContextThread`).
        if code == .serviceStopped {
            throw .readerUnavailable(reason: .absent, detail: .init(.serviceVersionMismatch))
        }
        guard code == .success else { throw code.error }
        // Not before the guard: Swift 6.2 releases a stored reference twice when an initializer then throws.
        self.recorder = recorder
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

    /// Waits until a reader's state differs from the known one, for this long at most.
    ///
    /// - Returns: the state, or `nil` when it did not change.
    func change(
        of reader: String, from known: CardPresence, within time: Duration
    ) throws(TransportError) -> CardPresence? {
        var state = unsafe SCARD_READERSTATE()
        unsafe state.dwCurrentState = known.state
        let milliseconds = DWORD(clamping: time.count(of: .milliseconds(1)))
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

    /// Ends a wait in another thread, at once or soon: libpcsclite lets one call at a time connect to pcscd, and a pcscd that does
    /// not answer keeps this one waiting. A context that was released meanwhile is an invalid handle to it.
    static func cancel(_ handle: Int) {
        BlockingWork.start { SCardCancel(handle) }
    }
}

/// The return code of a PC/SC service call.
///
/// Source: pcsc-lite 1.9.9, `pcsclite.h`, whose macros contain a cast and so are not imported into Swift.
struct PCSCCode: Hashable, Sendable {
    /// The number, 0 for success.
    let number: UInt32

    init(_ number: UInt32) {
        self.number = number
    }

    /// The number as pcsc-lite's header writes it.
    var hexadecimal: String { Hex.encode(number, digits: 8) }

    /// Creates a code from a C function's result: a `long`, whose upper half has no meaning.
    init(result: Int) {
        number = UInt32(truncatingIfNeeded: result)
    }

    static let success = PCSCCode(0)
    static let cancelled = PCSCCode(0x8010_0002)
    static let invalidHandle = PCSCCode(0x8010_0003)
    static let insufficientBuffer = PCSCCode(0x8010_0008)
    static let unknownReader = PCSCCode(0x8010_0009)
    static let timeout = PCSCCode(0x8010_000A)
    static let sharingViolation = PCSCCode(0x8010_000B)
    static let noSmartCard = PCSCCode(0x8010_000C)
    static let protocolMismatch = PCSCCode(0x8010_000F)
    static let notTransacted = PCSCCode(0x8010_0016)
    static let readerUnavailable = PCSCCode(0x8010_0017)
    static let unsupportedFeature = PCSCCode(0x8010_001F)
    static let noService = PCSCCode(0x8010_001D)
    static let serviceStopped = PCSCCode(0x8010_001E)
    static let noReaders = PCSCCode(0x8010_002E)
    static let dataLost = PCSCCode(0x8010_002F)
    static let unsupportedCard = PCSCCode(0x8010_0065)
    static let unresponsiveCard = PCSCCode(0x8010_0066)
    static let unpoweredCard = PCSCCode(0x8010_0067)
    static let resetCard = PCSCCode(0x8010_0068)
    static let removedCard = PCSCCode(0x8010_0069)
    static let accessDenied = PCSCCode(0x8010_006A)

    /// Whether the code means that there is no usable card, which is not a failure during a search.
    var meansNoCard: Bool {
        [.noSmartCard, .removedCard, .unresponsiveCard, .unpoweredCard, .notTransacted].contains(self)
    }

    /// The error for the layers above.
    var error: TransportError {
        switch self {
        case .cancelled: .cancelled
        // A card that is gone, or that no longer answers.
        case .noSmartCard, .removedCard, .unpoweredCard: .cardReleased
        case .unresponsiveCard, .notTransacted, .timeout: .noAnswer
        case .resetCard, .invalidHandle: .cardReleased
        case .dataLost: .corrupted(status: 0)
        case .insufficientBuffer: .answerTooLong
        case .sharingViolation:
            .readerUnavailable(reason: .busy, detail: .init(.cardInUse))
        case .accessDenied:
            .readerUnavailable(reason: .permission, detail: .init(.serviceRefusesUser))
        case .noService: .readerUnavailable(reason: .absent, detail: .init(.serviceNotRunning))
        case .serviceStopped: .readerUnavailable(reason: .absent, detail: .init(.serviceStopped))
        case .noReaders: .readerUnavailable(reason: .absent, detail: .init(.serviceKnowsNoReader))
        case .unknownReader, .readerUnavailable:
            .readerUnavailable(reason: .absent, detail: .init(.unplugged))
        case .protocolMismatch, .unsupportedCard:
            .unsupported(detail: .init(.cardNotUnderstood, hexadecimal))
        default: .readerFailed(detail: .init(.service, hexadecimal))
        }
    }
}

/// A call of the PC/SC service that failed.
struct PCSCError: Error, Hashable, Sendable {
    let code: PCSCCode
}
