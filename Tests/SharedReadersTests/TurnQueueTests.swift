// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SharedReaders

/// Who has the reader next, step by step.
struct TurnQueueTests {
    /// A queue that the macros of the tests may change.
    private final class Queue {
        var queue = TurnQueue<String>()

        init(_ turns: (number: Int, waits: Bool)...) {
            for turn in turns { queue.add(.init(turn.number, waits: turn.waits, "\(turn.number)")) }
        }

        func newHost() -> TurnHost? { queue.newHost() }
        func claim() -> TurnHost { queue.claim() }
        func take(_ host: TurnHost) -> Bool { queue.take(host) }
        func leave(_ host: TurnHost) -> Bool { queue.leave(host) }
        func remove(_ number: Int) -> Bool { queue.remove(number) }
        func beginSearch(_ host: TurnHost) -> Bool { queue.beginSearch(host) }
        func next(_ host: TurnHost, hasCard: Bool = false) -> Int? { queue.next(for: host, hasCard: hasCard)?.number }
        func begin(_ host: TurnHost) -> Int? { queue.begin(for: host, hasCard: false)?.number }
        func end(_ host: TurnHost, isFailure: Bool = false) -> [Int]? {
            queue.end(host, isFailure: isFailure)?.map(\.number)
        }

        /// Attempts whatever can have the reader, and returns the numbers in order.
        func run(_ host: TurnHost, hasCard: Bool = false, isOver: Bool) -> [Int] {
            var numbers: [Int] = []
            while numbers.count < 10, let turn = queue.begin(for: host, hasCard: hasCard) {
                numbers.append(turn.number)
                queue.finish(turn.number, isOver: isOver)
            }
            return numbers
        }
    }

    @Test func turnsAreInOrder() throws {
        let queue = Queue((1, false), (2, false), (3, false))
        let host = try #require(queue.newHost())
        #expect(queue.run(host, isOver: true) == [1, 2, 3])
        #expect(queue.newHost() == nil)
    }

    @Test func oneTurnHasTheReader() throws {
        let queue = Queue((1, false), (2, false))
        let host = try #require(queue.newHost())
        #expect(queue.begin(host) == 1)
        #expect(queue.begin(host) == nil)
        #expect(queue.queue.running == 1)
        #expect(queue.remove(1))
        #expect(!queue.remove(2))
        queue.queue.finish(1, isOver: true)
        #expect(queue.begin(host) == nil)
    }

    @Test func eachWaitingTurnHasOneAttemptACard() throws {
        let queue = Queue((1, true), (2, true))
        let host = try #require(queue.newHost())
        #expect(queue.run(host, isOver: false) == [1])
        #expect(queue.beginSearch(host))
        #expect(queue.queue.areWaiting)
        queue.queue.cardArrived()
        #expect(queue.run(host, hasCard: true, isOver: false) == [1, 2])
        #expect(queue.run(host, hasCard: true, isOver: false) == [])
        queue.queue.cardArrived()
        #expect(queue.run(host, hasCard: true, isOver: true) == [1, 2])
        #expect(!queue.queue.areWaiting)
    }

    @Test func aTurnThatDoesNotWaitOvertakesThoseThatDo() throws {
        let queue = Queue((1, true), (2, true), (3, false))
        let host = try #require(queue.newHost())
        #expect(queue.run(host, isOver: false) == [1, 3])
    }

    @Test(arguments: [true, false])
    func expiryGivesANewTurnItsAttempt(hasSearched: Bool) throws {
        let queue = Queue((1, true))
        let host = try #require(queue.newHost())
        if hasSearched { #expect(queue.run(host, isOver: false) == [1]) }
        var asked: [Bool] = []
        let isNew = queue.queue.expire(1) { searched in
            asked.append(searched)
            return searched
        }
        #expect(isNew == !hasSearched && asked == [hasSearched])
        #expect(queue.queue.next(for: host, hasCard: true)?.waits == (hasSearched ? nil : false))
    }

    @Test func aClaimTakesTheReaderFromAHostOnDemand() throws {
        let queue = Queue((1, false))
        let onDemand = try #require(queue.newHost())
        #expect(!queue.queue.mustLeave(onDemand))
        let claim = queue.claim()
        #expect(queue.queue.mustLeave(onDemand))
        #expect(!queue.take(claim))
        #expect(queue.next(onDemand) == nil)
        #expect(queue.end(onDemand) == [])
        #expect(queue.newHost() == nil)
        #expect(queue.take(claim))
        #expect(queue.run(claim, isOver: true) == [1])
        #expect(queue.end(onDemand, isFailure: true) == nil)
        #expect(queue.end(claim) == [])
    }

    @Test func aClaimThatGivesUpLeavesTheReaderToOthers() {
        let queue = Queue((1, false))
        let claim = queue.claim()
        #expect(queue.newHost() == nil)
        queue.queue.giveUp(claim)
        #expect(queue.newHost() != nil)
    }

    @Test func aLeavingHostGivesNoMoreTurns() throws {
        let queue = Queue((1, false), (2, false))
        let host = try #require(queue.newHost())
        #expect(queue.begin(host) == 1)
        #expect(!queue.leave(host))
        queue.queue.finish(1, isOver: true)
        #expect(queue.leave(host))
        #expect(queue.next(host) == nil)
    }

    @Test(arguments: [true, false])
    func theEndFailsTheRunningTurn(isFailure: Bool) throws {
        let queue = Queue((1, false), (2, true))
        let host = try #require(queue.newHost())
        #expect(queue.begin(host) == 1)
        #expect(queue.end(host, isFailure: isFailure) == (isFailure ? [1, 2] : [1]))
        #expect((queue.newHost() != nil) == !isFailure)
    }
}
