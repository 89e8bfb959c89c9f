/**
 * Proof store: what is known of one session's proof: what this browser found, what the server says.
 *
 * PS1  A short session is checked whole as soon as it is shown, of a long one its end; the rest when
 *      somebody asks for it. One check at a time; a later one takes the place of an earlier one.
 * PS2  A session that has grown is checked anew, once it rests for a moment.
 */

import { signal } from "@preact/signals";
import type { VerbatimClient } from "../../../src/client/client.ts";
import type { SessionHead, SessionVerdict } from "../../../src/client/session-shapes.ts";
import { isAbort, reasonOf } from "../server.ts";
import { showAltered } from "../session/altered.ts";
import { BytesSource } from "./bytes-source.ts";
import { checkEnd } from "./check-end.ts";
import { checkWhole } from "./check-whole.ts";
import type { Checked } from "./checked.ts";
import { WebProofCrypto } from "./web-crypto.ts";

/** Up to here everything is checked by itself; of longer ones this much of the end. */
export const WHOLE_BYTES_MAX = 8 * 1024 * 1024;
const END_BYTES = 4 * 1024 * 1024;
/** The server reads all of a session to judge it: over this, only when asked. */
const SERVER_BYTES_MAX = 64 * 1024 * 1024;
const REST_MS = 1_500;

export type ProofState =
  | { readonly is: "checking"; readonly share: number; readonly isWhole: boolean }
  | { readonly is: "checked"; readonly checked: Checked }
  | { readonly is: "failed"; readonly reason: string };

export class ProofStore {
  readonly state = signal<ProofState>({ is: "checking", share: 0, isWhole: false });
  /** The server's own report; null until it is there. */
  readonly report = signal<SessionVerdict | null>(null);
  /** Whether this browser can check signatures; null until it is known. */
  readonly canVerify = signal<boolean | null>(null);
  readonly id: string;
  readonly client: VerbatimClient;
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
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => void this.#check(), isFirst ? 0 : REST_MS);
  }

  /** Checks every byte, however long that takes. */
  checkAll(): void {
    this.#isWholeWanted = true;
    void this.#check();
  }

  /** Ends what goes on. */
  stop(): void {
    clearTimeout(this.#rest);
    this.#running?.abort();
  }

  /** The check of all was too long: back to the end alone. */
  stopWhole(): void {
    this.#isWholeWanted = false;
    void this.#check();
  }

  async #check(): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const head = await this.client.sessions.get(this.id);
      const isWhole = this.#isWholeWanted || head.end <= WHOLE_BYTES_MAX;
      if (isWhole || head.end <= SERVER_BYTES_MAX) void this.#askServer(running.signal);
      const checked = await this.#checked(head, isWhole, running.signal);
      running.signal.throwIfAborted();
      this.state.value = { is: "checked", checked };
      showAltered(this.id, checked.altered);
    } catch (cause) {
      if (running.signal.aborted || isAbort(cause)) return;
      this.state.value = { is: "failed", reason: reasonOf(cause) };
    }
  }

  async #checked(head: SessionHead, isWhole: boolean, signal: AbortSignal): Promise<Checked> {
    const crypto = new WebProofCrypto();
    this.canVerify.value = await crypto.canVerify();
    const source = new BytesSource(this.client.sessions, head, crypto, signal);
    // What was found before stays on the screen while a short session is looked at again.
    if (head.end > WHOLE_BYTES_MAX) this.state.value = { is: "checking", share: 0, isWhole };
    if (!isWhole) return checkEnd(source, END_BYTES);
    return checkWhole(source, (bytes, of) => {
      if (of <= WHOLE_BYTES_MAX) return;
      this.state.value = { is: "checking", share: bytes / of, isWhole };
    });
  }

  async #askServer(signal: AbortSignal): Promise<void> {
    try {
      const report = await this.client.sessions.verify(this.id);
      if (!signal.aborted) this.report.value = report;
    } catch {
      // The panel says that there is no word of the server's.
    }
  }
}

let latest: ProofStore | null = null;

/** The store of the session that is shown, for its badge and its panel alike. */
export function proofOf(client: VerbatimClient, id: string): ProofStore {
  if (latest?.id !== id || latest.client !== client) {
    latest?.stop();
    latest = new ProofStore(client, id);
  }
  return latest;
}
