// SPDX-License-Identifier: Apache-2.0

import Glibc
import KazasuCLI
import MQTT
import TestSupport
import Testing

@testable import KazasuServiceCLI

@Suite(.waits) struct ServiceExtensionTests {
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

    @Test("Without kazasud, the package that has it is named", arguments: ["en", "ja"])
    func notInstalled(language: String) throws {
        let folder = try TemporaryFolder()
        let alone = try folder.write(TestFiles.read(Service.kazasu), as: "kazasu")
        try #require(chmod(alone, 0o700) == 0)
        let environment = Service.environment.merging(["LC_ALL": "\(language).UTF-8"]) { $1 }
        for command in ServiceCommand.allCases {
            let result = try ChildProcess.run(alone, [command.rawValue, "--lang", language], environment: environment)
            #expect(result.end == .exited(66), "\(result.errors)")
            #expect(result.errors.contains("kazasu-service"), "\(result.errors)")
        }
    }
}

@Suite struct BrokerMessageTests {
    /// What happened, and words of the message that say what to do.
    static let messages: [(notice: MQTTNotice, words: String)] = [
        (.disconnected(.certificate), "--mqtt-ca FILE names the authority"),
        (.notAllowed(user: "tokyo", topics: "kazasu/nagoya"), "user tokyo publish below kazasu/nagoya"),
        (.notAllowed(user: nil, topics: "kazasu/nagoya"), "log in with mqtt://USER@HOST"),
        (.disconnected(.refused(0x86)), "refuses the user name or the password"),
    ]

    @Test("The log says what to do", arguments: messages)
    func words(_ row: (notice: MQTTNotice, words: String)) {
        #expect(row.notice.words.contains(row.words), "\(row.notice.words)")
    }
}
