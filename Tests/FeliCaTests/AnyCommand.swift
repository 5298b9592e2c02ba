// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import Testing

/// A command whose response type does not matter, with an answer that it takes.
struct AnyCommand: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: CommandCode
    let carriesIDm: Bool
    /// A good answer for ``testIDm``.
    let answer: String
    /// Whether an answer is taken.
    let accepts: @Sendable ([UInt8]) -> Result<Void, FeliCaError>

    init<Command: FeliCaCommand & Sendable>(_ command: Command, _ answer: String) {
        testDescription = "\(Command.self)"
        code = Command.code
        carriesIDm = Command.carriesIDm
        self.answer = answer
        accepts = { frame in
            do throws(FeliCaError) {
                _ = try command.response(from: frame, idm: testIDm)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
    }

    static let nodes = [NodeCode(rawValue: 0x0009), NodeCode(rawValue: 0x0049)]
    static let services = [ServiceCode(rawValue: 0x000B)]
    static let block = "000102030405060708090A0B0C0D0E0F"

    /// Every command of the module.
    static let all: [AnyCommand] = [
        .init(RequestService(nodes), "0F03<I>0201001100"),
        .init(RequestServiceV2(nodes), "1233<I>00004F0201001100"),
        .init(RequestServiceV2(nodes), "1633<I>0000410201001100FFFFFFFF"),
        .init(RequestResponse(), "0B05<I>00"),
        .init(ReadWithoutEncryption(services: services, blocks: BlockList(numbers: [0])), "1D07<I>000001" + block),
        .init(
            ReadWithoutEncryption(services: services, blocks: BlockList(numbers: 0...1)),
            "2D07<I>000002" + block + block),
        .init(
            WriteWithoutEncryption(services: services, blocks: BlockList(numbers: [0]), data: [.zero]),
            "0C09<I>0000"),
        .init(SearchServiceCode(index: 0), "0E0B<I>0000FEFF"),
        .init(SearchServiceCode(index: 1), "0C0B<I>0900"),
        .init(RequestSystemCode(), "110D<I>030003FE008FC1"),
        .init(RequestBlockInformation(nodes), "0F0F<I>0210002000"),
        .init(RequestCodeList(parent: .system, index: 1), "171B<I>000000010000FEFF0209004900"),
        .init(RequestBlockInformationEx(nodes), "151F<I>0000021000200030004000"),
        .init(GetContainerIssueInformation(), "1A23<I>01020304054142434445464748494A4B"),
        .init(GetAreaInformation(.root), "1025<I>00001234BEEF"),
        .init(GetSystemStatus(), "1039<I>00000102AABB"),
        .init(RequestProductInformation(), "1C3B<I>00000F1801020308475001D7007720250110"),
        .init(RequestSpecificationVersion(), "143D<I>00000000850200831282"),
        .init(ResetMode(), "0C3F<I>0000"),
        .init(Echo([0xA5, 0x5A]), "05F000A55A"),
    ]
}
