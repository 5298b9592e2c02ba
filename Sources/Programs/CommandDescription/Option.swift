// SPDX-License-Identifier: Apache-2.0

/// An option with a value, as in `--reader rcs380`.
@propertyWrapper
package struct Option<Value: Sendable>: Sendable {
    private let box: ArgumentBox<Value>
    private let define: @Sendable (ArgumentBox<Value>, _ property: String) -> ArgumentDefinition

    private init(
        _ value: Value, _ define: @escaping @Sendable (ArgumentBox<Value>, _ property: String) -> ArgumentDefinition
    ) {
        (box, self.define) = (ArgumentBox(value), define)
    }

    package var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }

    /// An option that must be given.
    ///
    /// - Parameter placeholder: the value until the command line is parsed.
    package init(
        required placeholder: Value, reach: Reach, name: ArgumentNames, parsing: ArgumentParsing = .next,
        help: ArgumentHelp,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        self.init(placeholder) { box, property in
            Self.define(
                box, Value.self, property, reach, name, parsing, help, completion, isRequired: true
            ) { box.value = $0 }
        }
    }

    /// An option with a default.
    package init(
        wrappedValue: Value, reach: Reach, name: ArgumentNames, parsing: ArgumentParsing = .next, help: ArgumentHelp,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        self.init(wrappedValue) { box, property in
            Self.define(
                box, Value.self, property, reach, name, parsing, help, completion,
                defaultValue: wrappedValue.defaultValueDescription
            ) { box.value = $0 }
        }
    }

    /// An option that may be left out.
    package init<Wrapped: ExpressibleByArgument>(
        reach: Reach, name: ArgumentNames, parsing: ArgumentParsing = .next, help: ArgumentHelp,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(nil) { box, property in
            Self.define(box, Wrapped.self, property, reach, name, parsing, help, completion) { box.value = $0 }
        }
    }

    /// An option that may be left out, and whose value may be left out.
    ///
    /// - Parameter defaultAsFlag: the value where only the name is given.
    package init<Wrapped: ExpressibleByArgument>(
        reach: Reach, name: ArgumentNames, defaultAsFlag: Wrapped, help: ArgumentHelp,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(nil) { box, property in
            Self.define(
                box, Wrapped.self, property, reach, name, .next, help, completion,
                flagValue: defaultAsFlag.defaultValueDescription
            ) { box.value = $0 }
        }
    }

    /// An option that may be repeated.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], reach: Reach, name: ArgumentNames, parsing: ArgumentParsing = .next,
        help: ArgumentHelp, completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(wrappedValue) { box, property in
            Self.define(box, Element.self, property, reach, name, parsing, help, completion, isRepeating: true) {
                box.value += [$0]
            }
        }
    }

    private static func define<One: ExpressibleByArgument>(
        _ box: ArgumentBox<Value>, _ type: One.Type, _ property: String, _ reach: Reach, _ names: ArgumentNames,
        _ parsing: ArgumentParsing, _ help: ArgumentHelp, _ completion: CompletionKind?, isRequired: Bool = false,
        isRepeating: Bool = false, defaultValue: String? = nil, flagValue: String? = nil,
        set: @escaping (One) -> Void
    ) -> ArgumentDefinition {
        ArgumentDefinition(
            .option, names: names.resolved(property), help, property: property, reach: reach, isRequired: isRequired,
            isRepeating: isRepeating, kind: One.argumentKind, parsing: parsing, defaultValue: defaultValue,
            flagValue: flagValue, completion: completion, usualCompletion: { One.defaultCompletionKind },
            values: { One.allValueStrings }, example: One.example, pattern: One.pattern,
            take: { text in
                guard let value = One(argument: text) else { return false }
                set(value)
                return true
            })
    }
}

extension Option: DescribedProperty {
    func definition(_ property: String) -> ArgumentDefinition { define(box, property) }
}
