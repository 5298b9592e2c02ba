// SPDX-License-Identifier: Apache-2.0

package import KazasuCLI

/// The commands that `kazasud` adds to those of `kazasu`.
package let serviceExtension = ServiceExtension(
    commands: [
        .bridge: BridgeCommand.self,
        .collect: CollectCommand.self,
        .ledger: LedgerCommand.self,
        .outbox: OutboxCommand.self,
        .rpc: RPCCommand.self,
        .serve: Serve.self,
        .watch: Watch.self,
    ],
    keeper: LedgerKeeper.open)
