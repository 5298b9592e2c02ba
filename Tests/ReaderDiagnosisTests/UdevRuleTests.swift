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
        #expect(UdevRules.files.last?.text.contains("MODE=\"0660\", GROUP=\"plugdev\"") == true)
    }
}
