// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The name of this machine, which is the default name of a site and of a collector.
package enum HostName {
    /// `localhost` if it has none.
    package static var current: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.isEmpty ? "localhost" : text
    }
}
