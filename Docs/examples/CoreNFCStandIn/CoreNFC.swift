// SPDX-License-Identifier: Apache-2.0

// The part of Apple's Core NFC that CoreNFCReader calls, with the same signatures and nothing behind them: so far, the example is
// checked where there is no Core NFC. What the real calls do is checked nowhere here.
import Foundation

public enum NFCFeliCaPollingRequestCode: Int { case noRequest, systemCode, communicationPerformance }
public enum NFCFeliCaPollingTimeSlot: Int { case max1 = 0, max2 = 1, max4 = 3, max8 = 7, max16 = 15 }

public protocol NFCFeliCaTag: AnyObject {
    var currentSystemCode: Data { get }
    var currentIDm: Data { get }
    func polling(
        systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
        completionHandler: @escaping (Data, Data, (any Error)?) -> Void)
    func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping (Data, (any Error)?) -> Void)
}

public final class NFCISO7816APDU {
    public init?(data: Data) {}
}

public protocol NFCISO7816Tag: AnyObject {
    var identifier: Data { get }
    var historicalBytes: Data? { get }
    func sendCommand(
        apdu: NFCISO7816APDU, completionHandler: @escaping (Data, UInt8, UInt8, (any Error)?) -> Void)
}
