// SPDX-License-Identifier: Apache-2.0
// The readers, cards and taps of `kazasu serve`, for browsers and for Node 20 and later; no dependency. Types: kazasu.d.ts.
//
//   import { Kazasu } from "./kazasu.js";
//   const kazasu = new Kazasu("http://127.0.0.1:7878");
//   console.log((await kazasu.balance()).balances[0].amount);
//   for await (const tap of kazasu.taps()) if (tap.type === "on") console.log(tap.tag);

/**
 * A request that was refused or that failed; `reason` and `status` are those of `kazasu.error/1`, and `reason` is `noServer` where
 * nothing answers.
 */
export class KazasuError extends Error {
  constructor(document, http = 0, options = undefined) {
    super(typeof document?.message === "string" ? document.message : `the server answered ${http}`, options);
    this.name = "KazasuError";
    this.reason = typeof document?.reason === "string" ? document.reason : "unknown";
    /** The exit status that the command would have; 70 when the answer is not Kazasu's. */
    this.status = Number.isInteger(document?.status) ? document.status : 70;
    this.hint = typeof document?.hint === "string" ? document.hint : null;
    /** What was read before the failure, or null. */
    this.partial = document?.partial ?? null;
    /** The status of HTTP; 0 without an answer. */
    this.http = http;
  }
}

/** The server sends something every 15 s: a stream that is silent for longer is lost. */
const SILENCE = 40_000;
const LONGEST_EVENT = 1 << 24;

/** Resolves after `ms`, or at once when the signal aborts. */
const pause = (ms, signal) => new Promise((resolve) => {
  const done = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", done);
    resolve();
  };
  const timer = setTimeout(done, ms);
  signal?.addEventListener("abort", done);
  if (signal?.aborted) done();
});

/** Reads server-sent events from a stream of bytes: {type, id, data}. */
async function* eventsOf(body, alive) {
  const reader = body.getReader(), decoder = new TextDecoder();
  let rest = "", type = "", id = null, data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      rest += decoder.decode(value, { stream: true });
      if (rest.length > LONGEST_EVENT) return;
      // A CR at the end may be the first half of CR LF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const content = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (line === "") {
          if (data.length) yield { type: type || "message", id, data: data.join("\n") };
          [type, id, data] = ["", null, []];
        } else if (field === "event") type = content;
        else if (field === "data") data.push(content);
        else if (field === "id") id = content;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export class Kazasu {
  #base; #token; #fetch;

  /** `base`: the address of the server, by default that of the page. `token`: what --token-from says, where it asks for one. */
  constructor(base = globalThis.location?.origin ?? "http://127.0.0.1:7878", { token = null, fetch = globalThis.fetch } = {}) {
    this.#base = new URL(base).href.replace(/\/+$/, "");
    this.#token = token;
    this.#fetch = (...request) => fetch(...request);
  }

  async #request(path, { query = {}, body, type, headers = {}, method = body === undefined ? "GET" : "POST", signal } = {}) {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
    const search = new URLSearchParams(pairs.map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : String(value)]));
    let response;
    try {
      response = await this.#fetch(`${this.#base}${path}${pairs.length ? `?${search}` : ""}`, {
        method, body, signal, cache: "no-store",
        headers: { ...(type ? { "Content-Type": type } : {}), ...(this.#token ? { Authorization: `Bearer ${this.#token}` } : {}), ...headers },
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      // A browser says no more of it, lest a page learn what else is there.
      throw new KazasuError({
        reason: "noServer", status: 69, message: `${this.#base} cannot be reached`,
        hint: "start it with 'kazasu serve'; a page of another origin needs its --allow-origin",
      }, 0, { cause });
    }
    if (response.ok) return response;
    throw new KazasuError(await response.json().catch(() => null), response.status);
  }

  async #document(path, request) {
    const response = await this.#request(path, request);
    try {
      return await response.json();
    } catch (cause) {
      if (request?.signal?.aborted) throw cause;
      throw new KazasuError({ message: "the answer is not JSON" }, response.status, { cause });
    }
  }

  /** A GET whose options are the query, but for the signal. */
  #read(path, { signal, ...query } = {}) { return this.#document(path, { query, signal }); }

  /** A POST of members. */
  #act(path, { signal, ...members }) {
    return this.#document(path, { body: JSON.stringify(members), type: "application/json", signal });
  }

  // Reading: { reader, timeout, signal } and the long options of the command in camelCase.
  readers(options) { return this.#read("/v1/readers", options); }
  poll(options) { return this.#read("/v1/poll", options); }
  scan(options) { return this.#read("/v1/scan", options); }
  balance(options) { return this.#read("/v1/balance", options); }
  history(options) { return this.#read("/v1/history", options); }
  dump(options) { return this.#read("/v1/dump", options); }
  read(service, options = {}) { return this.#read("/v1/read", { ...options, service }); }
  license(options) { return this.#read("/v1/license", options); }
  mynumber(options) { return this.#read("/v1/mynumber", options); }
  tagInfo(options) { return this.#read("/v1/tag/info", options); }
  tagRead(options) { return this.#read("/v1/tag/read", options); }
  tagPages(options) { return this.#read("/v1/tag/pages", options); }

  // With --allow write: `confirm` is the UID of the tag. With --allow raw: commands in hexadecimal digits.
  tagWrite(members) { return this.#act("/v1/tag/write", members); }
  apdu(commands, options = {}) { return this.#act("/v1/apdu", { ...options, commands }); }
  felica(commands, options = {}) { return this.#act("/v1/felica", { ...options, commands }); }

  /** Decodes a dump of any format: text, bytes or a Blob. */
  decode(dump, { signal, ...query } = {}) {
    return this.#document("/v1/decode", { body: dump, query, type: "application/octet-stream", signal });
  }

  /** Converts a dump to another format; returns its bytes. */
  async convert(dump, to, { signal, ...query } = {}) {
    const response = await this.#request("/v1/convert", { body: dump, query: { ...query, to }, type: "application/octet-stream", signal });
    return new Uint8Array(await response.arrayBuffer());
  }

  // With --allow ledger.
  ledgerRecords(options) { return this.#read("/v1/ledger/records", options); }
  ledgerSum(options) { return this.#read("/v1/ledger/sum", options); }
  ledgerGaps(options) { return this.#read("/v1/ledger/gaps", options); }

  /** A page of the events that are stored: { after, limit }; `next` is the `after` of the next page. */
  events(options) { return this.#read("/v1/events", options); }

  /** In a page of the server: exchanges the token for a cookie, which other requests of that page carry, too. */
  async login() { await this.#request("/v1/session", { method: "POST" }); }

  /**
   * Events as they happen, without end: taps and changes of readers, before them one { type: "state" } a reader, or with
   * `after` what happened since that event; { type: "gap" } where the server does not have it all any more. A connection that
   * is lost is made again, and goes on after the last event. Throws what another try would not change (401, 403, 421, …).
   */
  async *taps({ after = null, signal } = {}) {
    for (let attempt = 0; ; attempt += 1) {
      const control = new AbortController();
      const stop = () => control.abort(signal.reason);
      signal?.throwIfAborted();
      signal?.addEventListener("abort", stop);
      let silence;
      const alive = () => {
        clearTimeout(silence);
        silence = setTimeout(() => control.abort(new Error("the connection is silent")), SILENCE);
      };
      try {
        alive();
        const headers = { Accept: "text/event-stream", ...(after ? { "Last-Event-ID": after } : {}) };
        const response = await this.#request("/v1/taps", { headers, signal: control.signal });
        for await (const { type, id, data } of eventsOf(response.body, alive)) {
          let event;
          try { event = JSON.parse(data); } catch { continue; }
          if (event === null || typeof event !== "object") continue;
          attempt = 0;
          if (type === "overflow") {
            after = event.after ?? after;
            break;
          }
          after = id || after;
          yield { ...event, type };
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof KazasuError && error.http > 0 && error.http < 500 && error.http !== 408 && error.http !== 429) throw error;
      } finally {
        clearTimeout(silence);
        signal?.removeEventListener("abort", stop);
        control.abort();
      }
      await pause(Math.min(10_000, 250 * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2), signal);
    }
  }
}
