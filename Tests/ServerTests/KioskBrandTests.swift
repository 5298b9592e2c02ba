// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import Kazasu
import TestSupport
import Testing

/// The names of cards on the kiosk page are those of the decoders. `KAZASU_RECORD=1` writes them again.
@Suite("Brands of the kiosk page")
struct KioskBrandTests {
    private static let path = "Sources/Services/Server/Page/kiosk.html"

    /// The names of all kinds of cards and of their brands, by id.
    private static let known: [String: LocalizedText] = {
        var known: [String: LocalizedText] = [:]
        for decoder in DecoderRegistry.standard.decoders {
            known[decoder.kind.rawValue] = decoder.name
            for brand in decoder.brands { known[brand.id] = brand.name }
        }
        return known
    }()

    /// The ids of cards with money, and of their brands.
    private static let purses = Set(
        DecoderRegistry.standard.purses.flatMap { [$0.kind.rawValue] + $0.brands.map(\.id) })

    /// The rows of a table of the page, and where it is.
    private static func table(_ name: String, in page: String) throws -> (place: Range<String.Index>, rows: Substring) {
        let begin = try #require(page.firstRange(of: "  const \(name) = {\n")).upperBound
        let end = try #require(page[begin...].firstRange(of: "  };\n")).lowerBound
        return (begin..<end, page[begin..<end])
    }

    private static func ids(_ rows: Substring) -> [String] {
        rows.matches(of: /"?([\w-]+)"?: ["\[]/).map { String($0.1) }
    }

    @Test("The page has a color for each kind of card with money, and for each brand")
    func colors() throws {
        let page = String(decoding: try TestFiles.read(Self.path), as: UTF8.self)
        let colors = Set(Self.ids(try Self.table("COLORS", in: page).rows))
        #expect(Self.purses.subtracting(colors) == [])
        #expect(colors.subtracting(Self.known.keys) == [])
        #expect(Set(Self.ids(try Self.table("SHORT_NAMES", in: page).rows)).subtracting(colors) == [])
    }

    @Test("The names of the page are those of the decoders")
    func names() throws {
        var page = String(decoding: try TestFiles.read(Self.path), as: UTF8.self)
        let ids = Self.ids(try Self.table("COLORS", in: page).rows).sorted()
        let made = ids.map { id in
            let key = id.contains("-") ? "\"\(id)\"" : id
            let name = Self.known[id]
            return "    \(key): [\"\(name?.english ?? "")\", \"\(name?.japanese ?? "")\"],\n"
        }.joined()
        let (place, rows) = try Self.table("NAMES", in: page)
        if let record = getenv("KAZASU_RECORD"), record.pointee != 0 {
            page.replaceSubrange(place, with: made)
            let file = try #require(fopen("\(TestFiles.root)/\(Self.path)", "wb"))
            fputs(page, file)
            fclose(file)
        } else {
            #expect(rows == made, "KAZASU_RECORD=1 writes them again")
        }
    }
}
