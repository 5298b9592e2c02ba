// SPDX-License-Identifier: Apache-2.0

/// What goes wrong in a virtual field, as data: of several rules that strike at once the first counts.
public struct FaultPlan: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The rules, the most important first.
    public var rules: [FaultRule]

    /// A plan of rules; without any, nothing goes wrong.
    public init(_ rules: [FaultRule] = []) {
        self.rules = rules
    }

    /// A plan of rules.
    public init(arrayLiteral elements: FaultRule...) {
        rules = elements
    }

    /// The card is taken away before exchange `first` and put back before exchange `back`; never when `back` is `nil`.
    public static func cardAway(from first: Int, until back: Int? = nil) -> FaultPlan {
        guard let back else { return [FaultRule(.absent, .during(first...Int.max))] }
        return back <= first ? [] : [FaultRule(.absent, .during(first...(back - 1)))]
    }

    /// One fault at one exchange.
    public static func once(_ fault: Fault, at exchange: Int) -> FaultPlan {
        [FaultRule(fault, .during(exchange...exchange))]
    }

    /// One fault at one command APDU, counted from 1.
    public static func once(_ fault: Fault, atAPDU number: Int) -> FaultPlan {
        [FaultRule(fault, .during(number...number), countsAPDUs: true)]
    }

    /// What goes wrong at an exchange, or `nil`.
    ///
    /// - Parameters:
    ///   - exchange: the count of all exchanges, this one included.
    ///   - command: the command code of the frame, if it has one.
    ///   - exchangesOfCommand: how many frames had that code, this one included.
    ///   - isAPDU: whether the counts are those of command APDUs.
    func fault(exchange: Int, command: UInt8?, exchangesOfCommand: Int, isAPDU: Bool = false) -> Fault? {
        rules.first { rule in
            guard rule.countsAPDUs == isAPDU else { return false }
            guard let only = rule.command else { return rule.strikes(at: exchange) }
            return only == command && rule.strikes(at: exchangesOfCommand)
        }?.fault
    }
}
