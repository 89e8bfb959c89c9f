/**
 * Call names: ids of calls and names of tools that every provider accepts.
 *
 * - An id is used once in a request, however often the log used it.
 * - 40 characters is the lowest limit of any provider for an id (OpenAI's chat), 64 for a tool's
 *   name.
 * - A valid name is unchanged, and a prefix of a session gets the same names as the whole.
 */

export const CALL_ID_CHARS_MAX = 40;
export const TOOL_NAME_CHARS_MAX = 64;

const CALL_ID = /^[A-Za-z0-9_-]{1,40}$/;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;

export class CallIds {
  readonly #used = new Set<string>();

  /** The id under which a call is sent. */
  next(recorded: string | null): string {
    const fits = recorded !== null && CALL_ID.test(recorded) && !this.#used.has(recorded);
    let id = fits ? recorded : `call_${this.#used.size + 1}`;
    for (let more = 2; this.#used.has(id); more++) id = `call_${this.#used.size + 1}_${more}`;
    this.#used.add(id);
    return id;
  }
}

/** A tool's name as providers accept it: `oven.status` becomes `oven_status`. */
export function toolName(recorded: string): string {
  return recorded.replace(NOT_IN_NAMES, "_").slice(0, TOOL_NAME_CHARS_MAX) || "tool";
}
