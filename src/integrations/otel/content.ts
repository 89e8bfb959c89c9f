/**
 * Content: conversation texts as attributes of spans. Only on request.
 *
 * Messages have the shape of the conventions' JSON schemas for `gen_ai.input.messages` and
 * `gen_ai.output.messages`.
 *
 * - An attribute is bounded: texts are cut, with how much was left out, and of many parts the last
 *   ones are exported.
 */

import type { Part, Role, Speaker } from "../../core/model/entry.ts";

/** The longest text that is exported whole, in UTF-16 units. */
export const CONTENT_CHARS_MAX = 16_384;
/** Limits of a model call's input, and of its output: parts, and their JSON. */
export const CONTENT_PARTS_MAX = 64;
export const CONTENT_MESSAGES_CHARS_MAX = 4 * CONTENT_CHARS_MAX;

/** Parts as JSON texts. */
interface ToldMessage {
  readonly role: string;
  /** The speaker in the user role, when that was not a person. */
  readonly name: Speaker | null;
  readonly parts: string[];
}

/** Collects the input or the output of a model call. */
export class MessageCollector {
  readonly #messages: ToldMessage[] = [];
  #parts = 0;
  #chars = 0;

  /** Text of a program or an agent in the user role is not the user's: its role is `system`. */
  add(said: Role | null, parts: readonly Part[], saidBy?: Speaker): void {
    const role = saidBy === undefined ? (said ?? "user") : "system";
    const name = saidBy ?? null;
    for (const part of parts) {
      const json = JSON.stringify(partOf(part));
      const last = this.#messages.at(-1);
      if (last?.role === role && last.name === name) last.parts.push(json);
      else this.#messages.push({ role, name, parts: [json] });
      this.#parts++;
      this.#chars += json.length;
      while (this.#isTooMuch()) this.#dropOldest();
    }
  }

  /** Like `add`, for a line that may repeat all of its message, which is then exported once. */
  addGrown(said: Role | null, parts: readonly Part[]): void {
    if (this.#isAllIn(parts)) this.#clear();
    this.add(said, parts);
  }

  /** As JSON text, each message with its finish reason if there is one; null when empty. */
  text(finishReason?: string): string | null {
    if (this.#messages.length === 0) return null;
    const reason =
      finishReason === undefined ? "" : `,"finish_reason":${JSON.stringify(finishReason)}`;
    const messages = this.#messages.map(({ role, name, parts }) => {
      const speaker = name === null ? "" : `,"name":${JSON.stringify(name)}`;
      const said = `"parts":[${parts.join(",")}]`;
      return `{"role":${JSON.stringify(role)}${speaker},${said}${reason}}`;
    });
    return `[${messages.join(",")}]`;
  }

  /** Whether everything collected is in these parts, in order, with or without others between. */
  #isAllIn(parts: readonly Part[]): boolean {
    const told = this.#messages.flatMap((message) => message.parts);
    let found = 0;
    for (const part of parts) {
      if (found < told.length && JSON.stringify(partOf(part)) === told[found]) found++;
    }
    return found === told.length;
  }

  #clear(): void {
    this.#messages.length = 0;
    this.#parts = 0;
    this.#chars = 0;
  }

  #isTooMuch(): boolean {
    const isTooLong = this.#chars > CONTENT_MESSAGES_CHARS_MAX && this.#parts > 1;
    return this.#parts > CONTENT_PARTS_MAX || isTooLong;
  }

  #dropOldest(): void {
    const [first] = this.#messages;
    this.#chars -= first?.parts.shift()?.length ?? 0;
    this.#parts--;
    if (first?.parts.length === 0) this.#messages.shift();
  }
}

/** A value of any shape as a text of bounded length. */
export function valueText(value: unknown): string {
  return cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

function partOf(part: Part): object {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: cut(part.text) };
    case "tool_call":
      return {
        type: part.type,
        id: idOf(part.callId),
        name: cut(part.tool),
        arguments: boundedValue(part.input),
      };
    case "tool_result": {
      const response = boundedValue(part.error ?? part.output ?? null);
      return { type: "tool_call_response", id: idOf(part.callId), response };
    }
    case "child":
      return { type: "child_session", session: part.session };
    case "image":
    case "file":
      return { type: part.type, mime_type: part.mediaType };
    case "other":
      return { type: "other" }; // The bytes of an unknown part do not belong in traces.
  }
}

function idOf(callId: string | null): string | null {
  return callId === null ? null : cut(callId);
}

/** The value itself when its text is short enough, else the text's beginning. */
function boundedValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= CONTENT_CHARS_MAX ? value : valueText(value);
}

function cut(text: string): string {
  const whole = text.length <= CONTENT_CHARS_MAX;
  if (whole) return text.toWellFormed();
  const left = text.length - CONTENT_CHARS_MAX;
  return `${text.slice(0, CONTENT_CHARS_MAX).toWellFormed()}… [${left} more characters]`;
}
