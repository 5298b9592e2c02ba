// SPDX-License-Identifier: Apache-2.0

/// Options that several commands share.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments> {
    package var wrappedValue: Value
    private let title: String?

    /// - Parameter title: the heading in help; without one, the options are among those of the command.
    package init(title: String? = nil) { (self.title, wrappedValue) = (title, Value()) }
}

extension OptionGroup: Sendable where Value: Sendable {}

/// A group, whatever its options are.
protocol DescribedGroup {
    var heading: String? { get }
    var arguments: any ParsableArguments { get }
}

extension OptionGroup: DescribedGroup {
    var heading: String? { title }
    var arguments: any ParsableArguments { wrappedValue }
}
