// SPDX-License-Identifier: Apache-2.0

import KazasuCLI
import Testing

@testable import KazasuServiceCLI

@Suite struct ServiceExtensionTests {
    @Test func namesNoCommandTwice() {
        #expect(serviceExtension.commands.count <= 4)
    }
}
