// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// What is reported of one reader, and when it is opened again: what ``ReaderWatch`` decides, without threads, time or readers.
///
/// | It | Reported | Then |
/// | --- | --- | --- |
/// | is open | `ready` | it is watched until it fails |
/// | is not connected | `gone` if it was `ready`, else the error if another one was reported or the user named it | as below; one that nobody named only while it is listed |
/// | fails otherwise | the error, once | it is tried again after a pause, which grows until it is open or plugged in |
struct WatchedReader: Sendable {
    typealias State = Taps.ReaderState

    /// What comes after a failure.
    enum Next: Equatable {
        case retry(after: Duration)
        /// It is not tried again unless it is listed: it may have been plugged in again before anybody noticed that it was not.
        case retryIfListed(after: Duration)
    }

    private static let (firstPause, longestPause): (Duration, Duration) = (.milliseconds(500), .seconds(5))

    /// Whether the user named it.
    let isNamed: Bool
    /// The state that was reported last.
    private(set) var told: State?
    private var pause = firstPause

    init(isNamed: Bool) { self.isNamed = isNamed }

    /// It was opened.
    ///
    /// - Returns: the state to report.
    mutating func opened() -> State {
        (told, pause) = (.ready, Self.firstPause)
        return .ready
    }

    /// It was plugged in while it was not open.
    mutating func pluggedIn() { pause = Self.firstPause }

    /// It could not be opened, or failed.
    ///
    /// - Returns: the state to report, if any.
    mutating func failed(_ error: KazasuError) -> (report: State?, next: Next) {
        let state = report(error)
        if let state { told = state }
        defer { pause = min(pause * 2, Self.longestPause) }
        return (state, isNamed || !error.isReaderGone ? .retry(after: pause) : .retryIfListed(after: pause))
    }

    private func report(_ error: KazasuError) -> State? {
        if error.isReaderGone {
            if told == .ready { return .gone }
            if told == .gone || told == nil && !isNamed { return nil }
        }
        return told == .error(error) ? nil : .error(error)
    }
}

/// The readers that are watched as soon as they are ready.
struct WatchedReaders: Sendable {
    private var watched: Set<String> = []
    /// Those that are listed, and whether they are ready.
    private var listed: [String: Bool] = [:]

    /// A reader was listed.
    ///
    /// - Parameter isReady: `nil` if it is not listed any more.
    /// - Returns: whether its watch is to begin now.
    mutating func note(_ id: String, isReady: Bool?) -> Bool {
        listed[id] = isReady
        return isReady == true && watched.insert(id).inserted
    }

    func isListed(_ id: String) -> Bool { listed[id] != nil }

    /// The watch of a reader is over, since it was not listed.
    ///
    /// - Returns: whether it is to begin again: the reader has come back meanwhile.
    mutating func isBack(_ id: String) -> Bool {
        if listed[id] == true { return true }
        watched.remove(id)
        return false
    }

    /// The watch of a reader is over, whatever is listed.
    mutating func end(_ id: String) { watched.remove(id) }
}

extension KazasuError {
    /// Whether the ID of the reader, or its file, is wrong: another attempt cannot succeed.
    package var isAboutID: Bool {
        switch self {
        case .unknownReader, .badFile, .unreadableFile: true
        case .reader(.readerUnavailable(.unsupported, let detail), _): detail.code.isAboutID
        default: false
        }
    }

    /// Whether the reader is not connected; one that is and does not answer is not gone.
    package var isReaderGone: Bool {
        switch self {
        case .reader(.readerUnavailable(.absent, let detail), _),
            .reading(.reader(.readerUnavailable(.absent, let detail))):
            ![.silent, .doesNotStart, .notAPaSoRi].contains(detail.code)
        default: false
        }
    }
}
