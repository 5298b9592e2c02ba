// SPDX-License-Identifier: Apache-2.0
// Types of kazasu.js. The documents are those of Docs/schemas; amounts are in the smallest unit of their currency.

export type Technology = "felica" | "typeA" | "typeB";

/** A card as it answered. Which identity it has depends on the technology. */
export interface Card {
  technology: Technology;
  idm?: string;
  pmm?: string;
  uid?: string;
  pupi?: string;
  atqa?: string;
  sak?: string;
  ats?: string;
  applicationData?: string;
  protocolInfo?: string;
  bitRate?: number;
}

export interface DecodedCard extends Card {
  /** The decoder, as in `--card`; null when unknown. */
  kind: string | null;
  /** `suica`, `pasmo`, …; null when unknown. */
  brand: string | null;
  manufactured?: { date: string; from: "idm" };
}

export interface Balance {
  kind: string;
  name: string;
  /** Null where the card does not say enough; then `candidates` has what is possible. */
  amount: number | null;
  /** ISO 4217. */
  currency: string;
  /** The decimals of the currency: 1440 with 2 is 14.40. */
  exponent: 0 | 2;
  candidates?: { amount: number; condition: string }[];
  basis?: { code: "newestRecord" | "icCode" | "secondSystem" | "manufactured"; text: string };
}

export interface CodedValue {
  code: string;
  name: string | null;
  doubt?: "disputed" | "oneSource";
}

/** A station (`line`, `station`), a bus stop (`operator`, `stop`), or a stop of one card's own network (`system`, `stop`). */
export interface Place {
  area?: number;
  line?: number;
  station?: number;
  operator?: string;
  system?: string;
  route?: string;
  stop?: string;
  company: string | null;
  lineName: string | null;
  name: string | null;
  /** In Latin script. */
  nameEn: string | null;
  /** What people call the company, and the line with it. */
  companyShort?: string;
  companyShortEn?: string;
  everydayLine?: string;
  everydayLineEn?: string;
  formerNames?: { name: string; until: string | null }[];
  /** The stations that the code can mean, where the day does not decide. */
  candidates?: { name: string; nameEn: string | null; until: string | null }[];
  doubt?: "disputed" | "oneSource";
}

export type RecordKind = "rail" | "bus" | "purchase" | "charge" | "issue" | "ticket" | "adjustment" | "point" | "other";

export interface HistoryRecord {
  serial: number | null;
  /** `YYYY-MM-DD`, local time of the card's country. */
  date: string | null;
  /** `HH:MM`. */
  time: string | null;
  entryTime?: string;
  kind: RecordKind;
  terminal: CodedValue | null;
  process: CodedValue | null;
  payment: CodedValue | null;
  gate: CodedValue | null;
  entry: Place | null;
  exit: Place | null;
  amount: number | null;
  balance: number | null;
  warnings: string[];
  raw: string;
  partial?: { month?: number; day?: number; hour?: number };
  terminalId?: string;
  device?: string;
  points?: { balance: string; redeemed: number | null; bonus: boolean };
  gatePassage?: { entryDate: string | null; fare: number; settlement?: { amount: number; stationCode: string; doubt: string } };
}

export interface BalanceReport {
  schema: "kazasu.balance/1";
  card: DecodedCard;
  balances: Balance[];
}

export interface HistoryReport {
  schema: "kazasu.history/1";
  card: DecodedCard;
  kind: string;
  name: string;
  currency: string;
  exponent: 0 | 2;
  /** Newest first. */
  records: HistoryRecord[];
}

export interface ReaderList {
  schema: "kazasu.readers/1";
  readers: {
    id: string | null;
    name: string | null;
    /** The name that the server's --reader NAME=ID gave it. */
    alias?: string;
    /** Whether the server reports its taps. */
    watched?: boolean;
    state: "ready" | "unknown" | "unavailable";
    reason?: "absent" | "busy" | "permission" | "unsupported";
    detail?: string;
    hint?: string | null;
  }[];
  pcsc: { state: "ready" | "unavailable"; reason?: string; detail?: string; hint?: string | null };
}

/** A document whose members Docs/schemas describes. */
export interface KazasuDocument {
  schema: string;
  [member: string]: any;
}

interface Event {
  schema: "kazasu.tap/1";
  /** UUIDv7; never goes back. */
  id: string;
  /** Within the reader, without gaps; absent for a card that --only-known keeps from the sinks. */
  seq?: number;
  /** RFC 3339 with milliseconds. */
  at: string;
  /** Milliseconds of CLOCK_BOOTTIME. */
  mono: number;
  clock: "synchronised" | "unsynchronised";
  site: string;
  reader: string;
}

interface Visit extends Event {
  technology: Technology;
  system?: string;
  /** The IDm or UID, or an HMAC of it; absent when it is random. */
  tag?: string;
  name?: string;
  identity: "fixed" | "random";
}

/** A card came. `card`, `balances` and `records` are what the server's `--read` asks for. */
export interface OnEvent extends Visit {
  type: "on";
  card?: DecodedCard;
  balances?: Balance[];
  records?: HistoryRecord[];
  /** The id of the card's earlier `on` that has its older records; only from `watch`. */
  since?: string;
  /** The identifier that Home Assistant's app has written to the tag. */
  homeAssistantTag?: string;
  readError?: string;
}

/** A card left. */
export interface OffEvent extends Visit {
  type: "off";
  /** The id of the `on` that this ends. */
  on: string;
  dwellMs: number | null;
  /** Why nobody saw the card leave. */
  reason?: "reader" | "shutdown" | "restart";
}

export type ReaderStateName = "ready" | "gone" | "error";

export interface ReaderEvent extends Event {
  type: "reader";
  seq: number;
  state: ReaderStateName;
}

/** What the asker of the server's `--ask` decided about a card; a fault is no decision. */
export interface AnswerEvent extends Event {
  type: "answer";
  /** The id of the `on` that it was asked about. */
  on: string;
  answer: "yes" | "no" | "fault";
  /** How long it took, in milliseconds. */
  ms: number;
  /** Why it is a fault, such as `timeout` or `exit3`, or why nobody was asked. */
  reason?: string;
}

/** What is stored and sent to every client. */
export type TapEvent = OnEvent | OffEvent | ReaderEvent | AnswerEvent;

/** The state of a reader when the stream begins. */
export interface ReaderState {
  type: "state";
  reader: string;
  state: ReaderStateName;
  /** The event of the card that lies there. */
  on: OnEvent | null;
}

/** The server does not have everything since `after` any more. */
export interface Gap {
  type: "gap";
  after: string;
}

export interface EventsPage {
  schema: "kazasu.events/1";
  /** Oldest first. */
  events: TapEvent[];
  /** The `after` of the next page; null at the end. */
  next: string | null;
}

export interface RequestOptions {
  /** Cancels the request, and the read on the card with it. */
  signal?: AbortSignal;
}

/** Options of a command that reads a card; its long options in camelCase are allowed, too. */
export interface ReadOptions extends RequestOptions {
  /** Its name or ID; the first that is ready without. */
  reader?: string;
  /** Seconds to wait for a card: 10 unless given, at most 60. */
  timeout?: number;
  [option: string]: string | number | boolean | readonly string[] | AbortSignal | undefined;
}

/** Options of a search in the ledger, such as `card`, `month`, `since` and `by`. */
export type LedgerOptions = ReadOptions;

export interface TagWriteMembers extends ReadOptions {
  /** The UID of the tag that may be written. */
  confirm: string;
}

export type Dump = string | Uint8Array | ArrayBuffer | Blob;

/** A request that was refused or that failed; the words are those of `kazasu.error/1` and Docs/errors.md. */
export class KazasuError extends Error {
  constructor(document: unknown, http?: number, options?: { cause?: unknown });
  readonly name: "KazasuError";
  /** `noCard`, `otherCard`, `busy`, … */
  reason: string;
  /** The exit status that the command would have. */
  status: number;
  hint: string | null;
  /** What was read before the failure. */
  partial: KazasuDocument | null;
  /** The status of HTTP; 0 without an answer. */
  http: number;
}

export interface KazasuOptions {
  /** What `--token-from` says. */
  token?: string | null;
  fetch?: typeof fetch;
}

export class Kazasu {
  /** `base` is the address of the server, by default that of the page. */
  constructor(base?: string | URL, options?: KazasuOptions);

  readers(options?: RequestOptions): Promise<ReaderList>;
  poll(options?: ReadOptions): Promise<KazasuDocument>;
  scan(options?: ReadOptions): Promise<KazasuDocument>;
  balance(options?: ReadOptions): Promise<BalanceReport>;
  history(options?: ReadOptions): Promise<HistoryReport>;
  dump(options?: ReadOptions): Promise<KazasuDocument>;
  read(service: string, options?: ReadOptions): Promise<KazasuDocument>;
  license(options?: ReadOptions): Promise<KazasuDocument>;
  mynumber(options?: ReadOptions): Promise<KazasuDocument>;
  tagInfo(options?: ReadOptions): Promise<KazasuDocument>;
  tagRead(options?: ReadOptions): Promise<KazasuDocument>;
  tagPages(options?: ReadOptions): Promise<KazasuDocument>;

  tagWrite(members: TagWriteMembers): Promise<KazasuDocument>;
  apdu(commands: readonly string[], options?: ReadOptions): Promise<KazasuDocument>;
  felica(commands: readonly string[], options?: ReadOptions): Promise<KazasuDocument>;

  decode(dump: Dump, options?: RequestOptions): Promise<KazasuDocument>;
  convert(dump: Dump, to: string, options?: RequestOptions): Promise<Uint8Array>;

  ledgerRecords(options?: LedgerOptions): Promise<KazasuDocument>;
  ledgerSum(options?: LedgerOptions): Promise<KazasuDocument>;
  ledgerGaps(options?: LedgerOptions): Promise<KazasuDocument>;

  events(options?: RequestOptions & { after?: string; limit?: number }): Promise<EventsPage>;

  /** In a page of the server: exchanges the token for a cookie. */
  login(): Promise<void>;

  /** Events without end; reconnects, and goes on after the last event. */
  taps(options?: RequestOptions & { after?: string | null }): AsyncGenerator<TapEvent | ReaderState | Gap, void, undefined>;
}
