// SPDX-License-Identifier: Apache-2.0

/// A word without a name, as in `decode card.json`.
@propertyWrapper
package struct Argument<Value: Sendable>: Sendable {
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

    /// An argument that must be given.
    ///
    /// - Parameter placeholder: the value until the command line is parsed.
    package init(
        required placeholder: Value, reach: Reach, help: ArgumentHelp, completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        self.init(placeholder) { box, property in
            Self.define(Value.self, property, reach, help, completion, isRequired: true) { box.value = $0 }
        }
    }

    /// An argument that may be left out.
    package init<Wrapped: ExpressibleByArgument>(
        reach: Reach, help: ArgumentHelp, completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        self.init(nil) { box, property in
            Self.define(Wrapped.self, property, reach, help, completion) { box.value = $0 }
        }
    }

    /// One argument or more.
    ///
    /// - Parameter placeholder: the values until the command line is parsed: none.
    package init<Element: ExpressibleByArgument>(
        required placeholder: [Element], reach: Reach, help: ArgumentHelp, completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(placeholder) { box, property in
            Self.define(Element.self, property, reach, help, completion, isRequired: true, isRepeating: true) {
                box.value += [$0]
            }
        }
    }

    /// Any number of arguments.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], reach: Reach, help: ArgumentHelp, completion: CompletionKind? = nil
    ) where Value == [Element] {
        self.init(wrappedValue) { box, property in
            Self.define(Element.self, property, reach, help, completion, isRepeating: true) {
                box.value += [$0]
            }
        }
    }

    private static func define<One: ExpressibleByArgument>(
        _ type: One.Type, _ property: String, _ reach: Reach, _ help: ArgumentHelp, _ completion: CompletionKind?,
        isRequired: Bool = false, isRepeating: Bool = false, set: @escaping (One) -> Void
    ) -> ArgumentDefinition {
        ArgumentDefinition(
            .positional, names: [], help, property: property, reach: reach, isRequired: isRequired,
            isRepeating: isRepeating, kind: One.argumentKind, completion: completion,
            usualCompletion: { One.defaultCompletionKind },
            values: { One.allValueStrings }, example: One.example, pattern: One.pattern,
            take: { text in
                guard let value = One(argument: text) else { return false }
                set(value)
                return true
            })
    }
}

extension Argument: DescribedProperty {
    func definition(_ property: String) -> ArgumentDefinition { define(box, property) }
}
