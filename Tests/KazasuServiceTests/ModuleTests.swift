// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KazasuService

@Suite struct SinkTests {
    @Test func resultsAreCompared() {
        #expect(DeliveryResult.retry("timeout") != .dead("timeout"))
    }
}
