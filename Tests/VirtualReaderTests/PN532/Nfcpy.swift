// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// What nfcpy needs of the machine.
enum Nfcpy {
    /// A Python that has nfcpy, from the environment (`make test` sets it); empty when it is not told.
    static let python = getenv("KAZASU_PYTHON").map { String(cString: $0) } ?? ""

    /// Whether it can be imported.
    static let isThere = (try? ChildProcess.run(python, ["-c", "import nfc"]))?.end == .exited(0)

    /// Whether a serial port can be given a name that nfcpy finds: it looks at files directly in /dev only.
    static let canLinkInDev = access("/dev", W_OK) == 0
}
