// SPDX-License-Identifier: Apache-2.0

/// What a scripted host sends in one go.
struct HostBytes: Sendable {
    /// When; `nil` is as soon as the chip has nothing to do.
    var at: Duration?
    var bytes: [UInt8]

    init(at: Duration? = nil, _ bytes: [UInt8]) {
        self.at = at
        self.bytes = bytes
    }

    /// A command in hexadecimal, which starts with D4.
    init(at: Duration? = nil, command: String) throws {
        self.init(at: at, try ChipBench.frame(command))
    }

    /// Whether a chip that waits until then gets it.
    func isThere(before deadline: Duration) -> Bool {
        at.map { $0 <= deadline } ?? false
    }
}
