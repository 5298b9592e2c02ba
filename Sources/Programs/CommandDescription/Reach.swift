// SPDX-License-Identifier: Apache-2.0

/// Who may give an option to a command that is also a method of `serve`, `rpc` and the Python package. An option has no
/// reach by default: whoever writes one decides.
package enum Reach: Sendable {
    /// Whoever may call the method, over the network as well.
    case network
    /// Only the process that started Kazasu: the option names a file, writes one, or stands in for a question.
    case local
    /// Only the process that started Kazasu: the option says where a secret is.
    case secret
    /// Nobody but a person at a command line: no method has it.
    case never
}
