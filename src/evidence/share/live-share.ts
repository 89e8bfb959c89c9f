/**
 * Live share: follows a session, and publishes a copy whenever a turn may be shown: once it is
 * signed, scanned, and followed by `delay` turns.
 *
 * - If scanning or verifying fails, nothing new is shown, until it succeeds.
 * - What was shown is never unshown: what is withheld of a line is decided once (`Decisions`).
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { userFileMark } from "../../core/base/node-user-files.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { Finder, Hit } from "../redact/hits.ts";
import { NO_CHECKPOINT, NOTHING_YET, type RedactionResult } from "../redact/redact.ts";
import { makeCopy } from "./create-share.ts";
import {
  type MakeOptions,
  type Share,
  type SharedSession,
  type Shares,
  shareState,
  type Withholding,
} from "./share.ts";

const POLL_MS = 500;

export interface LiveOptions extends MakeOptions {
  readonly signal: AbortSignal;
  readonly onShown: (redacted: RedactionResult) => void;
}

/** Resolves when the share has ended, or the signal aborts; the share then stays as it is. */
export async function followLive(
  host: Host,
  shares: Shares,
  { id, sha256 }: Share,
  asked: { readonly session: SharedSession; readonly withholding: Withholding },
  options: LiveOptions,
): Promise<"ended" | "stopped"> {
  const { signal, nowMs, onWarning } = options;
  const { session } = asked;
  const log = join(session.root, session.logId);
  const markNow = () => `${userFileMark(log)} ${userFileMark(sidecarOf(log))}`;
  const decisions = new Decisions();
  let [mark, headSeq, warned] = ["", 0, ""];
  while (!signal.aborted) {
    const share = await shares.byHash(sha256);
    if (!share || shareState(share, nowMs()) !== "valid") return "ended";
    const before = markNow();
    if (before !== mark) {
      mark = before;
      try {
        const redacted = await publishNewer(host, shares, id, asked, decisions, headSeq, options);
        if (redacted) options.onShown(redacted);
        headSeq = redacted?.headSeq ?? headSeq;
        warned = "";
      } catch (cause) {
        if (signal.aborted) break;
        if (!(cause instanceof VerbatimError)) throw cause;
        if (cause.code === "SHARE_NOT_FOUND") return "ended";
        if (cause.code === "CHANGED_WHILE_READ") mark = "";
        else if (cause.message !== warned) onWarning(`nothing new is shown: ${cause.message}`);
        warned = cause.message;
      }
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  await shares.settle(id);
  return "stopped";
}

const EARLY = [NOTHING_YET, NO_CHECKPOINT];
const NOTHING_NEW = Symbol("nothing new");

/** Null: the copy would end where the last one did. */
async function publishNewer(
  host: Host,
  shares: Shares,
  id: string,
  { session, withholding }: { readonly session: SharedSession; readonly withholding: Withholding },
  decisions: Decisions,
  headSeq: number,
  options: LiveOptions,
): Promise<RedactionResult | null> {
  const decided = decisions.begin();
  try {
    const redacted = await shares.publish(id, async (out) => {
      const made = await makeCopy(host, session, withholding, out, { ...options, decided });
      if (made.headSeq <= headSeq) throw NOTHING_NEW;
      return made;
    });
    decisions.keep();
    return redacted;
  } catch (cause) {
    const isEarly =
      cause instanceof VerbatimError &&
      cause.code === "CANNOT_DISCLOSE" &&
      EARLY.includes((cause.details as { readonly reason: string }).reason);
    if (cause === NOTHING_NEW || isEarly) return null;
    throw cause;
  }
}

/** What is withheld of the lines that were shown. */
export class Decisions {
  readonly #hits = new Map<number, readonly Hit[]>();
  /** Lines up to this one are decided. */
  #through = 0;
  #pending: { readonly hits: Map<number, readonly Hit[]>; through: number } | null = null;

  /** A wrapper for the finder of one copy. */
  begin(): (finder: Finder) => Finder {
    const pending = { hits: new Map<number, readonly Hit[]>(), through: 0 };
    this.#pending = pending;
    return (finder) => (line, number) => {
      if (number > 0 && number <= this.#through) return this.#hits.get(number) ?? [];
      const hits = finder(line, number);
      if (number === 0) return hits; // Not a line: a file, or a text of ours.
      if (hits.length > 0) pending.hits.set(number, hits);
      pending.through = Math.max(pending.through, number);
      return hits;
    };
  }

  /** The copy was published. */
  keep(): void {
    for (const [number, hits] of this.#pending?.hits ?? []) this.#hits.set(number, hits);
    this.#through = Math.max(this.#through, this.#pending?.through ?? 0);
    this.#pending = null;
  }
}
