// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import ReaderDiagnosis
import SystemDevices
import TestSupport
import Testing

/// What a doctor finds on systems made of files.
struct DoctorTests {
    @Test(arguments: Scenario.all) func finds(_ scenario: Scenario) throws {
        let machine = try FakeMachine()
        try scenario.build(machine)
        let diagnosis = machine.examine()
        let codes = diagnosis.checks.map(\.code)
        for code in scenario.finds { #expect(codes.contains(code), "\(codes)") }
        for code in scenario.findsNot { #expect(!codes.contains(code), "\(codes)") }
        #expect(diagnosis.isReady == scenario.isReady, "\(codes)")
        let check = try #require(diagnosis.checks.first { $0.code == scenario.finds.first })
        #expect(check.message.english.contains(scenario.says), "\(check.message.english)")
    }

    /// Those of a reader that is tried and of a service that is asked are the command line's.
    @Test func everyVerdictHasAScenario() {
        let covered = Set(Scenario.all.flatMap(\.finds)).union([
            .answers, .answersNot, .noUSBReader, .serviceHasReader, .serviceRefuses, .serviceSilent,
            .serviceVersionMismatch, .serviceLibraryMissing,
        ])
        #expect(Set(Check.Code.allCases) == covered)
    }

    @Test func aNamedReaderThatAnswersLeavesNoFaultForMissingUSBReaders() throws {
        for scenario in Scenario.all where scenario.finds.contains(.noReader) {
            let machine = try FakeMachine()
            try scenario.build(machine)
            let found = machine.examine()
            var (good, bad) = (found, found)
            good.add(trial: Check(.answers, "virtual:card.json", "PN532"))
            bad.add(trial: Check(.answersNot, "virtual:card.json", "", ""))
            let absent: Set<Check.Code> = [.noReader, .wslWithoutReader, .containerWithoutReader]
            #expect(good.isReady && absent.isDisjoint(with: good.checks.map(\.code)))
            #expect(good.checks.contains { $0.code == .noUSBReader && $0.verdict == .note })
            #expect(bad.checks.dropLast() == found.checks[...])
        }
    }

    @Test(arguments: Scenario.all) func everythingThatIsSaidIsWhole(_ scenario: Scenario) throws {
        let machine = try FakeMachine()
        try scenario.build(machine)
        for check in machine.examine().checks {
            for text in [check.message, check.remedy].compactMap({ $0 }) {
                for language in Language.allCases {
                    #expect(!text[language].isEmpty)
                    for place in 0..<9 { #expect(!text[language].contains("{\(place)}"), "\(text[language])") }
                    #expect(!text[language].contains(machine.root), "paths are those of the system")
                }
            }
            if check.verdict == .fault || check.verdict == .warning { #expect(check.remedy != nil) }
            if check.verdict == .ok { #expect(check.remedy == nil) }
        }
    }

    /// The list of readers is a method and a function as well: callers of these are not told a command line.
    @Test func theListOfReadersIsNamedAsTheCallerNamesIt() {
        let values = (0..<4).map { LocalizedText("\($0)", "\($0)") }
        let listing = "kazasu.readers()"
        var named: [Check.Code] = []
        for code in Check.Code.allCases {
            guard let fix = Check(code, values).remedy(listing: listing) else { continue }
            for language in Language.allCases {
                #expect(!fix[language].contains("'kazasu readers'") && !fix[language].contains("{*}"), "\(code)")
            }
            #expect(fix.english.contains(listing) == fix.japanese.contains(listing), "\(code)")
            if fix.english.contains(listing) { named.append(code) }
        }
        #expect(named.count == 5)
        #expect(Check(.portMissing, "/dev/ttyUSB0").remedy?.english.contains("'kazasu readers'") == true)
    }

    @Test func theRuleThatIsMissingIsShown() throws {
        let machine = try FakeMachine()
        try machine.plugIn("054c:06c1")
        machine.locked[Scenario.node] = (EACCES, nil)
        let check = try #require(machine.examine().checks.first { $0.code == .noRule })
        let rule = #"ATTR{idVendor}=="054c", ATTR{idProduct}=="06c1", TAG+="uaccess""#
        #expect(check.remedy?.english.contains(rule) == true)
        #expect(UdevRules.files.first?.text.contains(rule) == true)
    }

    @Test func oneVerdictALayerForEachReader() throws {
        for scenario in Scenario.all {
            let machine = try FakeMachine()
            try scenario.build(machine)
            for reader in machine.examine().readers {
                let layers = reader.checks.map(\.layer)
                #expect(Set(layers).count == layers.count)
            }
        }
    }

    @Test func readersAreNamedAsDriversNameThem() throws {
        let machine = try FakeMachine()
        try machine.plugIn("054c:06c1", serial: "0123", port: "1-1", device: 5)
        try machine.plugIn("072f:2200", interfaces: [("0b", nil)], port: "1-2.4", device: 6)
        try machine.plugIn("054c:1fc9", port: "1-3", device: 7)
        let readers = machine.examine().readers
        #expect(readers.map(\.id) == ["rcs380:serial=0123", "acr122_usb:port=1-2.4", nil])
        #expect(readers.map { $0.isNamed(by: "rcs380:serial=0123") } == [true, false, false])
        #expect(readers.map { $0.isNamed(by: "acr122_usb:port=1-2.4") } == [false, true, false])
        #expect(readers.map(\.isReady) == [true, true, false])
        // What two have names neither.
        try machine.plugIn("054c:06c1", serial: "0123", port: "1-4", device: 8)
        #expect(
            machine.examine().readers.compactMap(\.id).filter { $0.hasPrefix("rcs") } == [
                "rcs380:port=1-1", "rcs380:port=1-4",
            ])
        #expect(readers.last?.fault?.code == .notDriven)
    }

    @Test func readersOfTheServiceAreNamed() throws {
        let machine = try FakeMachine()
        try machine.plugIn("072f:2200", interfaces: [("0b", nil)], port: "1-1", device: 5)
        try machine.plugIn("072f:223b", interfaces: [("0b", nil)], port: "1-2", device: 6)
        #expect(Doctor(machine.machine).readersOfService() == ["072F:223B"])
    }

    @Test func slotsOfVPCDAreKnownByTheirNames() throws {
        let fake = try FakeMachine()
        #expect(VirtualSlots.prefixes(fake.machine) == ["Virtual PCD "])
        try fake.write(
            "/etc/reader.conf.d/mine",
            """
            FRIENDLYNAME "My Slots"
            DEVICENAME   /dev/null:0x8C8B
            LIBPATH      /usr/lib/pcsc/drivers/serial/libifdvpcd.so
            FRIENDLYNAME "A Reader on a Line"
            DEVICENAME   /dev/ttyS0
            LIBPATH      /usr/lib/pcsc/drivers/serial/libccidtwin.so
            """)
        #expect(VirtualSlots.prefixes(fake.machine) == ["Virtual PCD ", "My Slots "])
    }

    @Test func aReaderThatAnsweredIsReady() throws {
        var diagnosis = try FakeMachine().examine()
        #expect(!diagnosis.isReady)
        diagnosis.system.append(Check(.answersNot, "pn532_uart:/dev/ttyUSB0", "silence", "plug it in"))
        #expect(!diagnosis.isReady)
        #expect(diagnosis.system.last?.remedy?.english == "plug it in")
        diagnosis.system.append(Check(.answers, "pn532_uart:/dev/ttyUSB0", "PN532"))
        #expect(diagnosis.isReady)
    }

    @Test func thisSystemCanBeExamined() {
        let diagnosis = Doctor(Machine()).examine()
        #expect(diagnosis.checks.contains { $0.layer == .host })
        #expect(diagnosis.checks.contains { $0.layer == .configuration })
    }

    @Test func oddFilesDoNoHarm() throws {
        let machine = try FakeMachine()
        try machine.plugIn("zzzz:06c1")
        try machine.write("/etc/nfc/libnfc.conf", String(repeating: "device.connstring = :\u{0}::\n", count: 5000))
        try machine.write("/etc/nfc/devices.d/x.conf", "device.connstring")
        try machine.write("/proc/99999999999999999999/comm", "x")
        machine.environment = ["KAZASU_READER": ":::", "LIBNFC_DEVICE": "pn532_uart:/"]
        #expect(!machine.examine().isReady)
    }

    @Test func tablesHaveNoFaults() {
        #expect(DiagnosisTables.faults.isEmpty, "\(DiagnosisTables.faults)")
        #expect(ReaderModel.faults.isEmpty, "\(ReaderModel.faults)")
        #expect(ReaderModel.all.count == 20)
    }
}
