// SPDX-License-Identifier: Apache-2.0

/// An option without a value, as in `--json`.
@propertyWrapper
package struct Flag: Sendable {
    private let box: ArgumentBox<Bool>
    private let reach: Reach
    private let names: ArgumentNames
    private let help: ArgumentHelp

    package var wrappedValue: Bool {
        get { box.value }
        nonmutating set { box.value = newValue }
    }

    package init(wrappedValue: Bool, reach: Reach, name: ArgumentNames, help: ArgumentHelp) {
        (box, self.reach, names, self.help) = (ArgumentBox(wrappedValue), reach, name, help)
    }
}

extension Flag: DescribedProperty {
    func definition(_ property: String) -> ArgumentDefinition {
        ArgumentDefinition(
            .flag, names: names.resolved(property), help, property: property, reach: reach,
            take: { _ in
                box.value = true
                return true
            })
    }
}
