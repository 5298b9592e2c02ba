// SPDX-License-Identifier: Apache-2.0
// kazasu.js in Node before the scripted server: `node --test Tests/Page/`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Kazasu, KazasuError } from "../../Sources/Services/Server/Page/kazasu.js";

const TOKEN = "a long secret";
let child, url, kazasu;

const steer = async (action, body = {}) => (await fetch(`${url}/mock/${action}`, { method: "POST", body: JSON.stringify(body) })).json();
const requests = (path) => steer("requests").then((all) => all.filter((each) => each.path === path));

/** The next `count` events of a stream. */
async function take(stream, count) {
  const events = [];
  for (let number = 0; number < count; number += 1) events.push((await stream.next()).value);
  return events;
}

before(async () => {
  child = spawn("python3", [fileURLToPath(new URL("mock.py", import.meta.url)), "--token", TOKEN], { stdio: ["ignore", "pipe", "inherit"] });
  [url] = await once(createInterface({ input: child.stdout }), "line");
});
after(() => child.kill());
beforeEach(() => { kazasu = new Kazasu(url, { token: TOKEN }); });

test("A balance and a history are the documents of the commands", async () => {
  const report = await kazasu.balance({ reader: "counter", timeout: 2, all: true, card: undefined });
  assert.equal(report.schema, "kazasu.balance/1");
  assert.equal(report.balances[0].amount, 10);
  const { query } = (await requests("/v1/balance")).at(-1);
  assert.deepEqual(query, { reader: "counter", timeout: "2", all: "true" });
  assert.equal((await kazasu.history()).records[0].exit.nameEn, "Shibuya");
  assert.equal((await kazasu.readers()).readers[0].id, "counter");
});

test("Each call has its route", async () => {
  const lists = await kazasu.poll({ system: ["0003", "FE00"] });
  assert.deepEqual([lists.path, lists.query], ["/v1/poll", { system: "0003,FE00" }]);
  for (const [name, path] of [
    ["scan", "/v1/scan"], ["dump", "/v1/dump"], ["license", "/v1/license"], ["mynumber", "/v1/mynumber"], ["tagInfo", "/v1/tag/info"],
    ["tagRead", "/v1/tag/read"], ["tagPages", "/v1/tag/pages"], ["ledgerRecords", "/v1/ledger/records"], ["ledgerSum", "/v1/ledger/sum"],
    ["ledgerGaps", "/v1/ledger/gaps"],
  ]) {
    assert.deepEqual(await kazasu[name]({ reader: "a b&c" }), { schema: "mock", path, query: { reader: "a b&c" }, body: "" }, name);
  }
  assert.deepEqual((await kazasu.read("090F", { blocks: "0-3" })).query, { blocks: "0-3", service: "090F" });
  const apdu = await kazasu.apdu(["00A4"], { reader: "counter" });
  assert.deepEqual([apdu.path, JSON.parse(apdu.body)], ["/v1/apdu", { reader: "counter", commands: ["00A4"] }]);
  assert.deepEqual(JSON.parse((await kazasu.felica(["0600"])).body), { commands: ["0600"] });
  assert.deepEqual(JSON.parse((await kazasu.tagWrite({ uri: "x", confirm: "04" })).body), { uri: "x", confirm: "04" });
  assert.equal((await kazasu.decode("0003 008B 0000 00")).body, "0003 008B 0000 00");
  const converted = JSON.parse(Buffer.from(await kazasu.convert(Buffer.from("dump"), "flipper")).toString());
  assert.deepEqual([converted.query, converted.body], [{ to: "flipper" }, "dump"]);
});

test("An error has the members of its document", async () => {
  const partial = { schema: "kazasu.dump/1", complete: false };
  const document = { schema: "kazasu.error/1", status: 74, reason: "cardLost", message: "the card left", hint: "hold it still", partial };
  await steer("fail", { path: "/v1/dump", status: 502, document });
  await assert.rejects(kazasu.dump(), (error) => {
    assert.ok(error instanceof KazasuError && error instanceof Error);
    assert.deepEqual([error.message, error.reason, error.status, error.hint, error.partial, error.http],
      ["the card left", "cardLost", 74, "hold it still", partial, 502]);
    return true;
  });
  await steer("fail", { path: "/v1/dump", status: 502, document: "<html>a proxy's own page</html>" });
  await assert.rejects(kazasu.dump(), { name: "KazasuError", reason: "unknown", status: 70, http: 502, hint: null, partial: null });
  await assert.rejects(new Kazasu(url).balance(), { reason: "refused", http: 401 });
  assert.throws(() => new Kazasu("nonsense"), TypeError);
  // Nobody listens at port 1.
  await assert.rejects(new Kazasu("http://127.0.0.1:1").balance(), (error) =>
    error instanceof KazasuError && error.reason === "noServer" && error.status === 69 && error.http === 0 && error.cause instanceof TypeError);
  await assert.rejects(kazasu.balance({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("A call is cancelled by its signal", async () => {
  const control = new AbortController();
  control.abort();
  await assert.rejects(kazasu.balance({ signal: control.signal }), { name: "AbortError" });
});

test("Taps begin with the state of the readers and go on", async () => {
  await steer("on", { what: "edy" });
  const stream = kazasu.taps();
  const [state] = await take(stream, 1);
  assert.deepEqual([state.type, state.reader, state.state, state.on.card.brand], ["state", "counter", "ready", "edy"]);
  const off = await steer("off");
  const on = await steer("on", { what: "suica-p1" });
  assert.deepEqual(await take(stream, 2), [off, on]);
  await stream.return();
});

test("A stream that breaks goes on after the last event, each once", async () => {
  const stream = kazasu.taps();
  await take(stream, 1);
  const sent = [];
  for (let round = 0; round < 5; round += 1) {
    sent.push(await steer("off"), await steer("on", { what: "edy" }));
    const got = await take(stream, 2);
    assert.deepEqual(got.map(({ id }) => id), sent.slice(-2).map(({ id }) => id));
    await steer("close");
    // This one happens while nobody listens.
    sent.push(await steer("off"));
    assert.equal((await stream.next()).value.id, sent.at(-1).id);
  }
  assert.equal((await requests("/v1/taps")).at(-1).lastEventID, sent.at(-2).id);
  await stream.return();
});

test("A client that was too slow resumes where the server says, and a gap is reported", async () => {
  const stream = kazasu.taps();
  await take(stream, 1);
  const first = await steer("on", { what: "edy" }), second = await steer("off");
  await take(stream, 2);
  await steer("overflow", { after: first.id });
  assert.equal((await stream.next()).value.id, second.id);
  await steer("forget");
  const third = await steer("on", { what: "edy" });
  assert.equal((await stream.next()).value.id, third.id);
  await stream.return();
  const late = kazasu.taps({ after: second.id });
  assert.deepEqual((await take(late, 2)).map(({ type, after, id }) => [type, after ?? id]), [["gap", second.id], ["on", third.id]]);
  await late.return();
});

test("Garbage in a stream is skipped, however it is cut", async () => {
  const stream = kazasu.taps();
  await take(stream, 1);
  const next = stream.next();
  await steer("push", { data: ":\n\ndata: not JSON\n\nevent: on\r\ndata: 17\r\n\r\nevent: on\ndata: null\n\ndata\nid\nretry: 1\nnonsense\n\n\r\r" });
  for (const data of ["event: of", "f\r", "\ndata: {\"reader\":", "\"日", "本\",\r\ndata: \"on\":1}\r\r"]) await steer("push", { data });
  assert.deepEqual((await next).value, { reader: "日本", on: 1, type: "off" });
  await stream.return();
});

test("What another try would not change ends a stream, what passes does not", async () => {
  await assert.rejects(new Kazasu(url, { token: "wrong" }).taps().next(), { http: 401 });
  await steer("fail", { path: "/v1/taps", status: 503, times: 2 });
  const stream = kazasu.taps();
  assert.equal((await stream.next()).value.type, "state");
  await stream.return();
});

test("A signal ends a stream, also while it waits to reconnect", async () => {
  const control = new AbortController();
  const stream = kazasu.taps({ signal: control.signal });
  await take(stream, 1);
  const waiting = stream.next();
  control.abort();
  await assert.rejects(waiting, { name: "AbortError" });
  const nobody = new AbortController();
  const lost = new Kazasu("http://127.0.0.1:1").taps({ signal: nobody.signal }).next();
  setImmediate(() => nobody.abort());
  await assert.rejects(lost, { name: "AbortError" });
});

test("Streams that were left are closed", async () => {
  for (let round = 0; round < 3; round += 1) {
    for await (const event of kazasu.taps()) if (event.type === "state") break;
  }
  // The server notices at its next write.
  let open;
  do {
    await steer("push", { data: ":\n\n" });
    open = await steer("streams");
  } while (open > 0);
  assert.equal(open, 0);
});
