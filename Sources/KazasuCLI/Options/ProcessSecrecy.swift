// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// What keeps a secret within the process that holds it.
enum ProcessSecrecy {
    /// From now on the process leaves no core dump, and no other process of the user may look into its memory.
    ///
    /// Called before a PIN or key is read; frames that carry one to the reader are in ordinary memory for a moment.
    static func begin() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        kazasu_forbid_dumps()
    }
}
