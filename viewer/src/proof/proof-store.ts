/**
 * Proof store: the state of one session's proof: the verdicts of this browser and of the server.
 *
 * - A short session is checked whole as soon as it is shown, of a long one its end; the rest on
 *   demand. One check at a time; a later one replaces an earlier one.
 * - A session that has grown is checked again, once it pauses for a moment. Until then the old
 *   result is out of date, and no green badge is shown for it (badge.ts, BD2).
 */

import { computed, signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionHead } from "../../../src/client/session-shapes.ts";
import { faultText, isAbort } from "../fault-text.ts";
import { showAltered } from "../session/altered.ts";
import { type BrowserWord, badgeOf, type ServerWord } from "./badge.ts";
import { WHOLE_BYTES_MAX } from "./checked.ts";

/** The server reads all of a session to judge it: over this size, only on demand. */
const SERVER_BYTES_MAX = 64 * 1024 * 1024;
const REST_MS = 1_500;

/** How long after its last line a session counts as live (src/server/sessions/wire.ts). */
const LIVE_MS = 60_000;

export class ProofStore {
  readonly browser = signal<BrowserWord>({ is: "checking", share: 0 });
  readonly server = signal<ServerWord>({ is: "asking" });
  /** All of a long session is being checked, which can be stopped. */
  readonly isWholeRunning = signal(false);
  readonly badge = computed(() => {
    return badgeOf({
      browser: this.browser.value,
      server: this.server.value,
      isLive: this.#isLive.value,
      isStale: this.#isStale.value,
    });
  });
  readonly id: string;
  readonly client: VerbatimClient;
  readonly #isLive = signal(false);
  readonly #isStale = signal(false);
  #running: AbortController | null = null;
  #seenEnd = -1;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #isWholeWanted = false;

  constructor(client: VerbatimClient, id: string) {
    this.client = client;
    this.id = id;
  }

  /** The session ends here now: checks it, unless that was done. */
  see(end: number): void {
    if (end === this.#seenEnd) return;
    const isFirst = this.#seenEnd === -1;
    this.#seenEnd = end;
    this.#isStale.value = true;
    this.#checkIn(isFirst ? 0 : REST_MS);
  }

  /** Checks every byte, however long that takes. */
  checkAll(): void {
    this.#isWholeWanted = true;
    void this.#check();
  }

  /** Checks again, after a failure. */
  checkAgain(): void {
    this.browser.value = { is: "checking", share: 0 };
    this.server.value = { is: "asking" };
    void this.#check();
  }

  /** Stops everything. */
  stop(): void {
    clearTimeout(this.#rest);
    this.#running?.abort();
  }

  /** Stops the check of the whole session: back to the end only. */
  stopWhole(): void {
    this.#isWholeWanted = false;
    void this.#check();
  }

  #checkIn(ms: number): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.#check(), ms);
  }

  async #check(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const head = await this.client.sessions.get(this.id);
      running.signal.throwIfAborted();
      const isWhole = this.#isWholeWanted || head.end <= WHOLE_BYTES_MAX;
      this.#isLive.value = head.isLive;
      const isAsked = isWhole || head.end <= SERVER_BYTES_MAX;
      await Promise.all([
        this.#askServer(isAsked, running.signal),
        this.#checkHere(head, isWhole, running.signal),
      ]);
      running.signal.throwIfAborted();
      this.#isStale.value = false;
      // Lines still unsigned by then will not be signed soon.
      if (head.isLive) this.#checkIn(LIVE_MS);
    } catch (cause) {
      if (running.signal.aborted || isAbort(cause)) return;
      this.browser.value = { is: "failed", reason: faultText(cause) };
    }
  }

  async #checkHere(head: SessionHead, isWhole: boolean, signal: AbortSignal): Promise<void> {
    try {
      const { browserCheck } = await import("./browser-check.ts");
      // The old result stays on the screen while a short session is checked again.
      const isLong = head.end > WHOLE_BYTES_MAX;
      if (isLong) this.browser.value = { is: "checking", share: 0 };
      this.isWholeRunning.value = isLong && isWhole;
      const progress = (bytes: number, of: number) => {
        if (isLong) this.browser.value = { is: "checking", share: bytes / of };
      };
      const { client } = this;
      const { checked, canVerify } = await browserCheck({
        client,
        head,
        isWhole,
        signal,
        progress,
      });
      signal.throwIfAborted();
      this.browser.value = { is: "checked", checked, canVerify };
      showAltered(this.id, checked.altered);
    } catch (cause) {
      if (signal.aborted || isAbort(cause)) return;
      this.browser.value = { is: "failed", reason: faultText(cause) };
    }
  }

  async #askServer(isAsked: boolean, signal: AbortSignal): Promise<void> {
    let word: ServerWord = { is: "not asked" };
    try {
      if (isAsked) word = { is: "said", report: await this.client.sessions.verify(this.id) };
    } catch (cause) {
      word = { is: "failed", reason: faultText(cause) };
    }
    if (!signal.aborted) this.server.value = word;
  }
}

let latest: ProofStore | null = null;

/** The store of the shown session, shared by its badge and its panel. */
export function proofOf(client: VerbatimClient, id: string): ProofStore {
  if (latest?.id !== id || latest.client !== client) {
    latest?.stop();
    latest = new ProofStore(client, id);
  }
  return latest;
}
