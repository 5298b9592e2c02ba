// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import DumpFormatsXML
import Testing

/// The order of the bytes of a code is another one in each format; none is ever taken for the other.
@Suite struct ByteOrderTests {
    private static let block = "16010002166CE33BE6210A000001E300"

    private static func json(_ nodes: String) -> String {
        #"{"systems":[{"code":"0003","idm":"0101031234567890","pmm":"0120220427674EFF","nodes":["# + nodes + "]}]}"
    }

    private static func service(_ code: String) -> String {
        #"{"type":"service","code":"\#(code)","data":{"0000":"\#(block)"}}"#
    }

    /// Text, format, the service that must come out.
    static let cases: [(text: String, format: String, service: String)] = [
        (json(service("0F09")), "proxmark", "090F"),
        (json(service("090F")), "proxmark", "0F09"),
        (
            #"{"primary_idm":"0101031234567890","systems":{"0003":{"nodes":["# + service("0f09") + "]}}}",
            "felica-tool", "090F"
        ),
        (
            #"{"tagId":"0101031234567890","felica":{"systems":{"3":{"services":{"34996":{"blocks":[{"data":""#
                + block + #""}]}}}}}}"#,
            "metrodroid", "88B4"
        ),
        (
            #"{"cardType":"FeliCa","_tagId":"0101031234567890","systems":[{"code":3,"services":[{"serviceCode":2319,"#
                + #""blocks":[{"address":0,"data":""# + block + #""}]}]}]}"#,
            "farebot", "090F"
        ),
        ("> FF A4 00 01 02 0F 09\n< 90 00\n> FF B0 00 00 00\n< \(block) 90 00\n", "pcsc", "090F"),
        ("> FF A4 00 01 02 8B 00\n< 90 00\n> FF B0 00 00 00\n< \(block) 90 00\n", "pcsc", "008B"),
        ("0003 090F 0000 \(block)\n", "hex", "090F"),
        ("0003 0F09 0000 \(block)\n", "hex", "0F09"),
        ("090F:0000:\(block)\n", "libpafe", "090F"),
        ("# FELICA SYSTEM_CODE = 0003\n# 0024:000f  Cyclic\n  0024:0000:\(block)\n", "libpafe", "090F"),
        ("# System code: 0003\n0F09:0000 \(block)\n", "felicalib", "0F09"),
        (
            "<card type=\"4\" id=\"0101031234567890\"><systems><system code=\"3\"><services><service code=\"2319\"><blocks>"
                + "<block address=\"0\">FgEAAhZs4zvmIQoAAAHjAA==</block></blocks></service></services></system></systems>"
                + "</card>",
            "metrodroid-xml", "090F"
        ),
    ]

    @Test(arguments: cases) func codesAreReadInTheOrderOfTheFormat(
        _ text: String, _ format: String, _ service: String
    ) throws {
        let read = try DumpFormatRegistry.complete.read(Array(text.utf8))
        #expect(read.format == format)
        let services = try #require(read.dumps.first?.systems.first?.services)
        #expect(services.map(\.code.description) == [service])
        #expect(services.first?.blocks[0]?.description == ByteOrderTests.block)
    }

    @Test func areasOfProxmarkAreInTheOrderOfTheWire() throws {
        let text = ByteOrderTests.json(#"{"type":"area","code":"00963F97"}"#)
        let area = try #require(
            try DumpFormatRegistry.standard.read(Array(text.utf8)).dumps.first?.systems.first?.areas.first)
        #expect(area.start.description == "9600")
        #expect(area.end.description == "973F")
    }

    /// Where something beside the code says what it must be, a code in the wrong order is an error.
    @Test func codesInTheWrongOrderAreRefused() {
        let flipper = """
            Filetype: Flipper NFC device
            Version: 4
            Device type: FeliCa
            UID: 01 01 03 12 34 56 78 90
            Data format version: 2
            System 00: 0003
            Service 000: | Code 8B00 | Attrib. 0B | Public | Random | Read Only |
            """
        #expect(
            throws: DocumentError.malformedLine(
                line: 7, expected: .init(.serviceAttribute))
        ) { try DumpFormatRegistry.standard.read(Array(flipper.utf8)) }
        let tool =
            #"{"primary_idm":"0101031234567890","systems":{"0003":{"nodes":[{"type":"service","code":"090F","number":36}]}}}"#
        #expect(
            throws: DocumentError.malformed(
                key: "systems.0003.nodes[0].code", expected: .init(.wireCode, "36"))
        ) { try DumpFormatRegistry.standard.read(Array(tool.utf8)) }
        let rust =
            #"{"systems":[{"system_code_hex":"0003","idm":"0101031234567890","pmm":"0120220427674EFF","system_services":"#
            + #"[{"number":36,"services":[{"code_hex":"0F09","number":36}]}]}]}"#
        #expect(
            throws: DocumentError.malformed(
                key: "systems[0].system_services[0].services[0].code_hex", expected: .init(.numberedCode, "36"))
        ) { try DumpFormatRegistry.standard.read(Array(rust.utf8)) }
    }

    /// Hexadecimal digits are never read as a decimal number, even if they look like one.
    @Test func hexadecimalKeysOfMetrodroidAreRefused() {
        let text = #"{"tagId":"0101031234567890","felica":{"systems":{"3":{"services":{"090F":{"blocks":[]}}}}}}"#
        #expect(
            throws: DocumentError.malformed(
                key: "felica.systems.3.services.090F", expected: .init(.decimalServiceName))
        ) { try DumpFormatRegistry.standard.read(Array(text.utf8)) }
    }
}
