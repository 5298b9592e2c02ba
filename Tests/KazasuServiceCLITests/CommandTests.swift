// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import TestSupport
import Testing

@testable import KazasuServiceCLI

@Suite struct ServiceExtensionTests {
    @Test("Each command that kazasu leaves to kazasud is there, and the ledger of --keep")
    func complete() {
        #expect(Set(serviceExtension.commands.keys) == Set(ServiceCommand.allCases))
        #expect(serviceExtension.keeper != nil)
    }

    @Test("kazasu hands the commands and their help over")
    func handedOver() throws {
        for command in ServiceCommand.allCases {
            let help = try Service.run([command.rawValue, "--help"], data: TemporaryFolder())
            #expect(help.end == .exited(0))
            #expect(help.output.contains("USAGE: kazasu \(command.rawValue)"), "\(help.output)")
        }
    }
}
