/**
 * Growing messages: Gemini CLI writes a message again, as a whole and with the same id, when its
 * token count or the results of its calls arrive; later versions write results a second time, as a
 * message of their own.
 *
 * Each row stays an entry, and has only what earlier rows did not have. A row that sets the whole
 * conversation has the messages whose ids are new. The memory is JSON and bounded; what was written
 * more than PARTS_REMEMBERED parts or IDS_REMEMBERED messages ago is shown again.
 */

import { compactJson, fingerprint } from "../../base/print-json.ts";
import type { Entry, Part } from "../../model/entry.ts";
import type { LineMemory } from "../dialect.ts";
import { idIn, stateEntry, stateIn } from "./decode.ts";

const PARTS_REMEMBERED = 1024;
const IDS_REMEMBERED = 4096;

export class GrowingMessages implements LineMemory {
  readonly #seen: Set<string>;
  /** Fingerprints of messages' ids. */
  readonly #ids: Set<string>;

  constructor(state: unknown = {}) {
    const { seen = [], ids = [] } = state as Partial<ReturnType<GrowingMessages["state"]>>;
    [this.#seen, this.#ids] = [new Set(seen), new Set(ids)];
  }

  read<Read extends Entry>(entry: Read): Read {
    const { kind, messageId, usage } = entry;
    const state = stateIn(entry.native);
    if (state !== null) {
      const added = state.filter((message) => !this.#ids.has(fingerprint(idIn(message) ?? "")));
      const ids = added.map((message) => fingerprint(idIn(message) ?? ""));
      note(this.#ids, ids, IDS_REMEMBERED);
      const { saidBy: _, ...rest } = entry;
      return { ...rest, ...stateEntry(entry.native, added) } as Read;
    }
    if (messageId === undefined) return entry;
    note(this.#ids, [fingerprint(messageId)], IDS_REMEMBERED);
    if (kind !== "message") return entry;
    const added: string[] = []; // Later: a part that is twice in one row is two parts.
    const parts = entry.parts.filter((part) => {
      const key = keyOf(messageId, part);
      if (this.#seen.has(key)) return false;
      added.push(key);
      if (part.type === "tool_call" && part.callId !== null) added.push(this.#called(part.callId));
      return true;
    });
    note(this.#seen, added, PARTS_REMEMBERED);
    if (parts.length === entry.parts.length) return entry;
    const isRepeat = parts.length === 0 && usage === null;
    return isRepeat ? { ...entry, kind: "other", role: null, parts } : { ...entry, parts };
  }

  state(): { readonly seen: readonly string[]; readonly ids: readonly string[] } {
    return { seen: [...this.#seen], ids: [...this.#ids] };
  }

  /** A later message that uses the id of a call again has its own result. */
  #called(callId: string): string {
    const key = `called ${fingerprint(callId)}`;
    if (this.#seen.has(key)) this.#seen.delete(resultKey(callId));
    return key;
  }
}

/** Adds to the keys, and forgets the oldest beyond the limit. */
function note(keys: Set<string>, added: readonly string[], countMax: number): void {
  for (const key of added) keys.add(key);
  for (const oldest of keys) {
    if (keys.size <= countMax) break;
    keys.delete(oldest);
  }
}

/** A result is known by its call alone: it is in the call's message, and in one of its own. */
function keyOf(messageId: string, part: Part): string {
  if (part.type === "tool_result" && part.callId !== null) return resultKey(part.callId);
  const what = part.type === "tool_call" && part.callId !== null ? part.callId : compactJson(part);
  return `${part.type} ${fingerprint(`${messageId} ${what}`)}`;
}

function resultKey(callId: string): string {
  return `tool_result ${fingerprint(callId)}`;
}
