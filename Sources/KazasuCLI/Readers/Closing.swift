// SPDX-License-Identifier: Apache-2.0

/// Does work with a reader and closes it, also when the work fails; the work's own failure is the one that is told.
func closing<Value>(_ session: ReaderSession, _ work: (ReaderSession) throws -> Value) throws -> Value {
    let value: Value
    do {
        value = try work(session)
    } catch {
        try? session.close()
        throw error
    }
    try session.close()
    return value
}
