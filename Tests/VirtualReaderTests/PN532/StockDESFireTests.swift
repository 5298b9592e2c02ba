// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import VirtualReader

/// Debian's libfreefare, which knows nothing of this project and enciphers with OpenSSL, on the virtual DESFire.
@Suite(
    "libfreefare reads and writes the virtual DESFire",
    .needs("/usr/bin/mifare-desfire-info", "/usr/bin/python3"))
struct StockDESFireTests {
    private static func server() throws -> PN532Server {
        try PN532Server(field: VirtualField(cardFile: TestFiles.read("Fixtures/virtual/desfire.json")))
    }

    @Test("Its tool shows version and memory")
    func tool() throws {
        let server = try Self.server()
        defer { server.stop() }
        let result = try ChildProcess.run(
            "/usr/bin/mifare-desfire-info", [], environment: ["LIBNFC_DEVICE": server.connectionString])
        #expect(result.output.contains("0x04de5f1ea5c0de"), "\(result)")
        #expect(result.output.contains("Free memory: 5120 bytes"), "\(result)")
        #expect(server.statistics.damagedFrames == 0)
    }

    /// The library by way of Python: files of all kinds in AES, ISO and D40 sessions.
    private static let script = #"""
        import ctypes as c
        import sys
        nfc, ff = c.CDLL("libnfc.so.6"), c.CDLL("libfreefare.so.0")
        context = c.c_void_p()
        nfc.nfc_init(c.byref(context))
        nfc.nfc_open.restype, nfc.nfc_open.argtypes = c.c_void_p, [c.c_void_p, c.c_char_p]
        device = nfc.nfc_open(context, sys.argv[1].encode())
        ff.freefare_get_tags.restype, ff.freefare_get_tags.argtypes = c.POINTER(c.c_void_p), [c.c_void_p]
        tag = c.c_void_p(ff.freefare_get_tags(device)[0])
        for kind in ("aes", "3des", "3k3des"):
            getattr(ff, f"mifare_desfire_{kind}_key_new").restype = c.c_void_p
        ff.mifare_desfire_aid_new.restype = c.c_void_p


        def call(name, *values):
            result = getattr(ff, "mifare_desfire_" + name)(tag, *values)
            if result < 0:
                sys.exit(f"{name}: {result}")
            return result


        def key(kind, text):
            return c.c_void_p(getattr(ff, f"mifare_desfire_{kind}_key_new")(bytes.fromhex(text)))


        def select(number):
            call("select_application", c.c_void_p(ff.mifare_desfire_aid_new(number)))


        def data(name, file, offset, count, size=1):
            buffer = c.create_string_buffer(count * size + 64)
            call(name, c.c_uint8(file), c.c_long(offset), c.c_size_t(count), buffer)
            return buffer.raw[:count * size].hex()


        def value(file):
            number = c.c_int32()
            call("get_value", c.c_uint8(file), c.byref(number))
            return number.value


        call("connect")
        select(0xF5A1C0)
        print("free", data("read_data", 1, 0, 11))
        call("authenticate_aes", c.c_uint8(1), key("aes", "101112131415161718191A1B1C1D1E1F"))
        print("value", value(3), "records", data("read_records", 4, 0, 2, 8), "mac", data("read_data", 2, 0, 120)[:8])
        call("authenticate_aes", c.c_uint8(2), key("aes", "202122232425262728292A2B2C2D2E2F"))
        call("credit", c.c_uint8(3), c.c_int32(250))
        call("write_data", c.c_uint8(2), c.c_long(1), c.c_size_t(100), bytes(range(100)))
        call("commit_transaction")
        print("value", value(3))
        call("authenticate_aes", c.c_uint8(1), key("aes", "101112131415161718191A1B1C1D1E1F"))
        print("long", data("read_data", 2, 0, 104))
        select(0x030201)
        call("authenticate_iso", c.c_uint8(0), key("3k3des", "00112233445566778899AABBCCDDEEFF0102030405060708"))
        print("3k3des", data("read_data", 0, 0, 8))
        select(0xF48020)
        call("authenticate", c.c_uint8(0), key("3des", "00112233445566778899AABBCCDDEEFF"))
        call("write_data", c.c_uint8(0), c.c_long(1), c.c_size_t(2), bytes([0xCA, 0xFE]))
        version = c.c_uint8()
        call("get_key_version", c.c_uint8(0), c.byref(version))
        print("d40", version.value)
        """#

    @Test("Its library reads and writes files in AES, ISO and D40 sessions")
    func library() throws {
        let server = try Self.server()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let script = try folder.write(Array(Self.script.utf8), as: "desfire.py")
        let result = try ChildProcess.run(
            "/usr/bin/python3", [script, server.connectionString],
            environment: ["LIBNFC_DEVICE": server.connectionString])
        let long = (0..<100).map { UInt8($0) }.reduce("") {
            $0 + String($1 >> 4, radix: 16) + String($1 & 15, radix: 16)
        }
        #expect(
            result.output == """
                free 4d656d6265722030303432
                value 1250 records 20260105000000fa20260212000001f4 mac 00010203
                value 1500
                long 00\(long)000000
                3k3des 5365637265740000
                d40 0

                """, "\(result)")
        #expect(server.statistics.damagedFrames == 0)
    }
}
