// SPDX-License-Identifier: Apache-2.0

@_exported public import Kazasu
@_exported public import ReaderTesting
@_exported public import VirtualReader

/// A reader within the process, without a device and without libnfc, on which the cards of a dump or a virtual card file lie.
///
/// For cards that change during a test, or faults, make the ``VirtualField`` yourself:
/// `CardReader(InProcessReader(field), cancellation: CancellationToken())`.
///
/// - Parameter bytes: the file; see `Docs/virtual-cards.md`.
/// - Throws: ``DocumentError`` with the place of a mistake.
public func virtualReader(cards bytes: [UInt8]) throws(DocumentError) -> CardReader {
    let cancellation = CancellationToken()
    return CardReader(
        InProcessReader(try VirtualField(cardFile: bytes), cancellation: cancellation), cancellation: cancellation)
}

/// A reader that replays a recording: the lines that `kazasu --trace` writes, or a report of `kazasu doctor`.
///
/// - Parameters:
///   - bytes: the recording.
///   - command: which command of a report, as in `scan`; `nil` for the first.
/// - Throws: ``DocumentError`` with the place of a mistake.
public func replayReader(_ bytes: [UInt8], command: String? = nil) throws(DocumentError) -> CardReader {
    let cancellation = CancellationToken()
    let reader = ReplayReader(try Transcript(parsing: bytes).playing(command), cancellation: cancellation)
    return CardReader(reader, cancellation: cancellation)
}

extension ReaderSource {
    /// A reader before a virtual field, for `taps(from:)` and watchers: cards come and go as the test
    /// places and removes them.
    ///
    /// - Parameters:
    ///   - field: the field.
    ///   - id: the reader's ID.
    public init(_ field: VirtualField, id: String = "virtual") {
        self.init(id) { cancellation in
            InProcessReader(
                field,
                information: ReaderInformation(id: id, name: "Virtual reader", technologies: Technology.allCases),
                cancellation: cancellation)
        }
    }
}
