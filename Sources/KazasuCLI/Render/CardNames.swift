// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa

/// What the registries know of codes, in the language of this run; unknown codes stay raw.
enum CardNames {
    static func name(system: SystemCode) -> String? {
        KnownSystem.of(system)?.name[Language.current]
    }

    static func name(service: ServiceCode, in system: SystemCode) -> String? {
        KnownService.of(service, in: system)?.name?[Language.current]
    }

    /// The code, and the name if there is one.
    static func describe(system: SystemCode) -> String {
        name(system: system).map { "\(system)  \($0)" } ?? system.description
    }

    /// The code, and the name if there is one, within a sentence.
    static func mention(_ system: SystemCode) -> String {
        name(system: system).map { "\(system) \($0)" } ?? system.description
    }

    /// The IC type, and the product if it is known.
    static func describe(ic pmm: PMm) -> String {
        let code = Hex.encode(pmm.icType, digits: 2)
        return product(pmm).map { "\(code)  \($0)" } ?? code
    }

    /// Adds `ic` and `product` to the `card` of a document.
    static func addIC(_ pmm: PMm, to card: inout JSONValue) {
        guard case .object(var object) = card else { return }
        object["ic"] = .string(Hex.encode(pmm.icType, digits: 2))
        object["product"] = .text(product(pmm))
        card = .object(object)
    }

    private static func product(_ pmm: PMm) -> String? {
        guard let product = ICProduct.of(pmm) else { return nil }
        return product.use.map { "\(product.name) (\($0))" } ?? product.name
    }
}
