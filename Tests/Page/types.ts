// SPDX-License-Identifier: Apache-2.0
// Compiled, not run: what a program in TypeScript may write, and what the compiler must refuse.

import { Kazasu, KazasuError, type TapEvent, type BalanceReport } from "../../Sources/Services/Server/Page/kazasu.js";

const kazasu = new Kazasu("http://127.0.0.1:7878", { token: "secret" });
const report: BalanceReport = await kazasu.balance({ reader: "counter", timeout: 5, all: true, signal: new AbortController().signal });
const amount: number | null = report.balances[0].amount;
for (const record of (await kazasu.history()).records) console.log(record.entry?.nameEn ?? record.entry?.name, record.amount);
for await (const tap of kazasu.taps({ after: null })) {
  if (tap.type === "on") console.log(tap.tag, tap.records?.[0]?.exit?.name);
  else if (tap.type === "off") console.log(tap.on, tap.dwellMs);
  else if (tap.type === "state") console.log(tap.on?.balances?.[0].amount);
  else if (tap.type === "gap") console.log(tap.after);
  else if (tap.type === "answer") console.log(tap.answer, tap.ms);
  else console.log(tap.state);
}
try {
  const events: TapEvent[] = (await kazasu.events({ after: "1", limit: 10 })).events;
  const bytes: Uint8Array = await kazasu.convert(new Uint8Array(), "flipper");
  await kazasu.apdu(["00A40000"]);
  console.log(events, bytes, amount);
} catch (error) {
  if (error instanceof KazasuError) console.log(error.reason, error.status, error.hint, error.partial?.schema, error.http);
}

// @ts-expect-error: a PIN is never an option that is an object
await kazasu.license({ pin1: {} });
// @ts-expect-error: commands are a list
await kazasu.apdu("00A40000");
// @ts-expect-error: writing asks for the UID
await kazasu.tagWrite({ uri: "https://example.com" });
// @ts-expect-error: there is no such call
await kazasu.open();
