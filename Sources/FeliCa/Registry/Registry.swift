// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The tables in `Registry/Data`, one row a fact; each is read when it is first asked for.
///
/// What a row says, and where the facts of a table come from, stands on top of its file. Profiles of ICs
/// (``ICProfile``) are code, since every read of a card asks for one and they name commands.
public enum Registry {
    static let systems = FactTable(
        PackageResources.systems_tsv, columns: ["code", "english", "japanese"], key: ["code"],
        row: KnownSystem.init(_:))

    static let products = FactTable(
        PackageResources.ic_products_tsv, columns: ["ic", "last", "roms", "product", "use"],
        key: ["ic", "last", "roms"], row: ICProduct.init(_:))

    static let services = FactTable(
        PackageResources.services_tsv, columns: ["systems", "service", "blocks", "english", "japanese"],
        key: ["systems", "service"], row: KnownServiceGroup.init(_:))

    /// What is wrong in the tables, by the name of the file; a release has no faults.
    public static var faults: [String: [TableFault]] {
        [
            "systems.tsv": systems.faults, "ic-products.tsv": products.faults, "services.tsv": services.faults,
        ]
    }
}
