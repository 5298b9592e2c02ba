// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import KazasuCLI
import KazasuCommands

@testable import KazasuServiceCLI

/// The commands of `kazasud`, for tests that call it as a library. The program's main file installs them there.
enum OwnProgramCommands {
    private static let installed: Void = Program.install(allCommands, helpGroups)

    /// Each suite that looks up methods calls it first.
    static func install() { installed }

    static var all: [(words: [String], command: any ParsableCommand.Type)] {
        installed
        return Program.commands(serviceExtension)
    }

    static var methods: [CommandMethod] {
        installed
        return CommandMethod.all
    }

    static func command(_ words: [String]) -> (any KazasuCommand.Type)? {
        installed
        return Program.command(words, serviceExtension)
    }
}
