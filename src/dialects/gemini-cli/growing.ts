/**
 * Growing messages: Gemini CLI writes a message again, as a whole and with the same id, when its
 * token count or the results of its calls arrive; later versions write results a second time, as a
 * message of their own.
 *
 * Each row stays an entry, and has only what earlier rows did not have. The memory is JSON and
 * bounded; what was written more than PARTS_REMEMBERED parts ago is shown again.
 */

import { compactJson, fingerprint } from "../../base/print-json.ts";
import type { Entry, Part } from "../../model/entry.ts";
import type { LineMemory } from "../dialect.ts";

const PARTS_REMEMBERED = 1024;

export class GrowingMessages implements LineMemory {
  readonly #seen: Set<string>;

  constructor(state: unknown = []) {
    this.#seen = new Set(state as readonly string[]);
  }

  read<Read extends Entry>(entry: Read): Read {
    const { kind, messageId, usage } = entry;
    if (kind !== "message" || messageId === undefined) return entry;
    const added: string[] = []; // Later: a part that is twice in one row is two parts.
    const parts = entry.parts.filter((part) => {
      const key = keyOf(messageId, part);
      if (this.#seen.has(key)) return false;
      added.push(key);
      if (part.type === "tool_call" && part.callId !== null) added.push(this.#called(part.callId));
      return true;
    });
    this.#note(added);
    if (parts.length === entry.parts.length) return entry;
    const isRepeat = parts.length === 0 && usage === null;
    return isRepeat ? { ...entry, kind: "other", role: null, parts } : { ...entry, parts };
  }

  state(): readonly string[] {
    return [...this.#seen];
  }

  /** A later message that uses the id of a call again has its own result. */
  #called(callId: string): string {
    const key = `called ${fingerprint(callId)}`;
    if (this.#seen.has(key)) this.#seen.delete(resultKey(callId));
    return key;
  }

  #note(keys: readonly string[]): void {
    for (const key of keys) this.#seen.add(key);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= PARTS_REMEMBERED) break;
      this.#seen.delete(oldest);
    }
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
