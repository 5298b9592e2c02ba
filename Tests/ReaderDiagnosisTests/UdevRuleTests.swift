// SPDX-License-Identifier: Apache-2.0

import ReaderDiagnosis
import SystemDevices
import TestSupport
import Testing

/// The udev rules, as `make install` and `doctor --fix` install them.
struct UdevRuleTests {
    @Test func filesInPackagingAreThese() throws {
        for file in UdevRules.files {
            let packaged = try TestFiles.read("packaging/udev/\(file.name)")
            #expect(String(decoding: packaged, as: UTF8.self) == file.text, "\(file.name)")
        }
    }

    @Test func everyReaderThatIsDrivenIsInEachFile() {
        for file in UdevRules.files {
            for model in ReaderModel.all where model.driver != nil {
                let vendor = String(model.vendor, radix: 16)
                let product = String(model.product, radix: 16)
                let line = file.text.split(separator: "\n").first {
                    !$0.hasPrefix("#") && $0.contains("\(vendor)\"") && $0.contains("\(product)\"")
                }
                #expect(line != nil, "\(model.name) in \(file.name)")
            }
        }
    }

    @Test func nobodyGetsMoreThanIsNeeded() {
        for file in UdevRules.files {
            #expect(!file.text.contains("0666"))
            #expect(!file.text.contains("0664"))
        }
        #expect(UdevRules.files.map(\.name) == ["70-kazasu.rules", "93-kazasu.rules"])
        #expect(UdevRules.files.first?.text.contains("TAG+=\"uaccess\"") == true)
        #expect(UdevRules.files.last?.text.contains("\nMODE:=\"0660\", GROUP:=\"$env{.KAZASU_GROUP}\"\n") == true)
    }

    /// Tests/USB/test_udev.py runs the rules with the real udev.
    @Test func chipCardReadersAreLeftToAPcscdOfItsOwnGroup() throws {
        let text = try #require(UdevRules.files.last?.text)
        let order = [
            "idProduct}==\"0dc8\", ENV{.KAZASU_GROUP}=\"plugdev\"", "!=\"plugdev\", GOTO=\"kazasu_end\"",
            "\"*:0b0000:*\", PROGRAM==\"/usr/bin/getent group pcscd\", ENV{.KAZASU_GROUP}=\"pcscd\"", "GROUP:=",
            "RUN+=\"/usr/bin/setfacl -m g:plugdev:rw $devnode\"",
        ]
        var rest = Substring(text)
        for part in order {
            let range = try #require(rest.firstRange(of: part), "\(part)")
            rest = rest[range.upperBound...]
        }
    }

    @Test func thePackageAppliesThemAsDoctorDoes() throws {
        let script = String(decoding: try TestFiles.read("packaging/debian/kazasu.postinst"), as: UTF8.self)
        #expect(script.contains("for vendor in \(UdevRules.vendors.joined(separator: " ")); do"))
        #expect(UdevRules.applyingCommands.count == UdevRules.vendors.count + 1)
    }
}
