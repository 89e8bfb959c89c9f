/**
 * Recording: the calls of a session that was recorded as they were, and the answer that a replay
 * gives to a request. Page: docs/formats/wire.md, "Replay".
 *
 * - A run of a program may have made several sessions: all of its calls are in the recording.
 * - The same request gets its answers in order, each once.
 * - A call of which a piece was changed or erased is not replayed, and is counted.
 */

import type { Host } from "../../core/base/host.ts";
import type { Entry } from "../../core/model/entry.ts";
import { type RawMark, type WireMark, wireMarkIn } from "../../core/model/wire-mark.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { iterateLogs } from "../../dialects/find.ts";
import { DEFAULT_DIALECT } from "../../dialects/registry.ts";
import { findSession } from "../../sessions/list/find-session.ts";
import type { StoreLookup } from "../../sessions/list/find-stores.ts";
import { type FoundSession, openFoundSession } from "../../sessions/list/session-place.ts";
import { bodyTexts, type Headers, Secrets } from "../wire/body.ts";
import type { CallEnd } from "../wire/call.ts";
import { hashOf, listMark, runStartMs } from "../wire/raw.ts";
import { comparable, firstDifference, shownValues } from "./compared-request.ts";

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  readonly end: CallEnd;
}

/** File systems may have an older clock. */
const CLOCK_LAG_MS = 5000;

interface RecordedCall {
  readonly run: string;
  readonly startMs: number;
  readonly target: string;
  readonly request: readonly string[];
  readonly answer: RecordedAnswer;
}

/** Why there is no answer to a request. */
export interface Unrecorded {
  readonly type: "not_recorded";
  readonly message: string;
  /** Where the request differs from the recorded one that is most like it. */
  readonly path?: string;
  readonly recorded?: string;
  readonly sent?: string;
}

export class Recording {
  readonly id: string;
  /** Calls that cannot be replayed. */
  readonly damaged: number;
  readonly #calls: readonly RecordedCall[];
  /** The calls of each request, and how many were answered. */
  readonly #byRequest = new Map<string, { calls: RecordedCall[]; answered: number }>();
  readonly #secrets = new Secrets();

  constructor(id: string, calls: readonly RecordedCall[], damaged: number) {
    this.id = id;
    this.damaged = damaged;
    this.#calls = calls.toSorted((a, b) => a.startMs - b.startMs);
    for (const call of this.#calls) {
      const key = keyOf(call.target, comparable(call.request.join("")));
      const same = this.#byRequest.get(key) ?? { calls: [], answered: 0 };
      same.calls.push(call);
      this.#byRequest.set(key, same);
    }
  }

  async answerTo(
    target: string,
    headers: Headers,
    body: Uint8Array,
  ): Promise<RecordedAnswer | Unrecorded> {
    this.#secrets.learn(headers, target);
    const place = this.#secrets.removeFromTarget(target);
    const request = comparable((await bodyTexts(body, headers, this.#secrets)).raw);
    const same = this.#byRequest.get(keyOf(place, request));
    const call = same?.calls[same.answered];
    if (same && call) {
      same.answered++;
      return call.answer;
    }
    return this.#unrecorded(place, request, same?.answered ?? 0);
  }

  async #unrecorded(target: string, request: unknown, answered: number): Promise<Unrecorded> {
    const type = "not_recorded";
    if (answered > 0) {
      return { type, message: `this request was recorded ${answered} times, and is sent again` };
    }
    const text = JSON.stringify(request);
    let nearest: { readonly length: number; readonly request: unknown } | null = null;
    for (const call of this.#calls) {
      if (call.target !== target) continue;
      const other = comparable(call.request.join(""));
      const length = commonLength(JSON.stringify(other), text);
      if (nearest === null || length > nearest.length) nearest = { length, request: other };
    }
    if (nearest === null) return { type, message: `no call to ${target} was recorded` };
    const difference = firstDifference(nearest.request, request);
    if (difference === null) return { type, message: "this request was not recorded" };
    const { path } = difference;
    const [recorded, sent] = await shownValues(difference);
    const message = `this request was not recorded: ${path} was ${recorded}, and is ${sent}`;
    return { type, message, path, recorded, sent };
  }
}

function keyOf(target: string, request: unknown): string {
  return hashOf(JSON.stringify([target, request]));
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** The recording that a name means; null: that session has no calls as they were. */
export async function openRecording(
  host: Host,
  name: string,
  where: StoreLookup,
): Promise<Recording | null> {
  // The proxy writes no other layout: a program's own file of the session is not meant.
  const place = await findSession(host, name, { dialect: DEFAULT_DIALECT, ...where });
  const own = await readCalls(host, place);
  if (own.calls.length === 0) return null;
  const runs = new Set(own.calls.map(({ run }) => run));
  const startMs = Math.min(...[...runs].map(runStartMs)) - CLOCK_LAG_MS;
  const reads = [own];
  for (const log of iterateLogs(place.root, dialectNamed(place.dialect).naming.layout)) {
    if (log.id === place.id || log.mtimeMs < startMs) continue;
    reads.push(await readCalls(host, { ...place, id: log.id, path: log.path }, runs));
  }
  const damaged = reads.reduce((sum, read) => sum + read.damaged, 0);
  const calls = reads.flatMap((read) => read.calls);
  return new Recording(place.id ?? place.path, calls, damaged);
}

async function readCalls(host: Host, place: FoundSession, runs: ReadonlySet<string> | null = null) {
  const session = openFoundSession(host, place);
  const reading = new RawReading(runs);
  try {
    for await (const entry of session.entries({ restoresSpilled: true, onBadLine: "skip" })) {
      reading.add(entry);
    }
  } finally {
    await session.close();
  }
  return reading;
}

/** The calls in a session's entries: of these runs, or all. */
export class RawReading {
  readonly #runs: ReadonlySet<string> | null;
  readonly calls: RecordedCall[] = [];
  damaged = 0;
  readonly #pieces = new Map<string, string>();
  readonly #requests = new Map<string, readonly string[]>();

  constructor(runs: ReadonlySet<string> | null) {
    this.#runs = runs;
  }

  add({ at, metadata }: Entry): void {
    const wire = wireMarkIn(metadata);
    for (const piece of wire?.pieces ?? []) this.#pieces.set(hashOf(piece), piece);
    if (wire?.raw === undefined) return;
    const call = this.#callOf(wire, wire.raw, at);
    if (this.#runs !== null && !this.#runs.has(wire.raw.run)) return;
    if (call === null) this.damaged++;
    else this.calls.push(call);
  }

  #callOf(wire: WireMark, raw: RawMark, at: string | null): RecordedCall | null {
    const { status = 0, durationMs = 0, end = "whole" } = wire;
    const { run, target, headers, charset = "utf8", after: [mark, count] = ["", 0] } = raw;
    const before = count === 0 ? [] : (this.#requests.get(mark)?.slice(0, count) ?? [""]);
    const hashes = [...before, ...raw.request];
    this.#requests.set(listMark(hashes), hashes);
    const request = hashes.flatMap((hash) => this.#pieces.get(hash) ?? []);
    const answer = this.#pieces.get(raw.answer ?? "");
    if (answer === undefined || request.length < hashes.length) return null;
    const startMs = Date.parse(at ?? "") - durationMs;
    const body = Buffer.from(answer, charset);
    return { run, startMs, target, request, answer: { status, headers, body, end } };
  }
}
