// SPDX-License-Identifier: Apache-2.0

/// Puts the records of a message together from frames, chunk by chunk, and checks their order.
struct NDEFAssembly {
    private(set) var records: [NDEFRecord] = []
    private(set) var isComplete = false
    /// The record whose later chunks are still to come.
    private var pending: NDEFRecord?
    private var hasBegun = false

    var isWithinRecord: Bool { pending != nil }

    /// Takes the next frame.
    ///
    /// - Throws: ``NDEFError`` when it must not stand here.
    mutating func add(_ frame: NDEFFrame, at offset: Int) throws(NDEFError) {
        guard frame.beginsMessage != hasBegun else {
            throw NDEFError(hasBegun ? .secondMessageBegin : .noMessageBegin, offset: offset)
        }
        hasBegun = true
        if frame.isContinued, frame.endsMessage { throw NDEFError(.chunkUnfinished, offset: offset) }
        if pending != nil {
            guard frame.record.format == .unchanged else { throw NDEFError(.chunkUnfinished, offset: offset) }
            guard frame.record.id == nil else { throw NDEFError(.chunkWithID, offset: offset) }
            pending?.payload += frame.record.payload
        } else {
            guard frame.record.format != .unchanged else { throw NDEFError(.chunkWithoutStart, offset: offset) }
            pending = frame.record
        }
        if !frame.isContinued, let record = pending {
            records.append(record)
            pending = nil
        }
        isComplete = frame.endsMessage
    }
}
