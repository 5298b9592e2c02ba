// SPDX-License-Identifier: Apache-2.0

/// Does work with a reader and closes it, also when the work fails.
func closing<Value>(_ session: ReaderSession, _ work: (ReaderSession) throws -> Value) throws -> Value {
    defer { session.close() }
    return try work(session)
}
