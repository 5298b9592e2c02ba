// SPDX-License-Identifier: Apache-2.0

import CardModel
import NDEF
import TestSupport
import Testing

@Suite("Messages of NDEF errors")
struct NDEFErrorMessageTests {
    @Test("Every problem and every absence has a row")
    func rows() {
        checkMessages(NDEFError.Reason.messages)
        checkMessages(NDEFAbsence.messages)
        for reason in NDEFError.Reason.allCases { checkSentence(NDEFError(reason, offset: 3)) }
        for absence in NDEFAbsence.allCases { checkSentence(absence) }
    }

    @Test("An error contains its cause and its place")
    func place() {
        let error = NDEFError(.noMessageEnd, offset: 12)
        #expect(error.description == "no NDEF message: no record has the ME flag (byte 12)")
    }
}
