/**
 * Queue: prompts typed while Claude Code was working, as its older versions store them.
 *
 *     {"type":"queue-operation","operation":"enqueue","content":"…"}   typed, and waits
 *     dequeue   becomes the next prompt: an ordinary user's row follows
 *     remove    goes to the model in the middle of its turn; later versions write an attachment too
 *     popAll    the person took it back to edit it
 *
 * A prompt counts once. `remove` is the prompt only if nothing else is: in a log whose version
 * writes no attachments, and only if its `reason` is that the model took it. The memory is JSON and
 * bounded; the oldest prompts beyond the limit are dropped.
 */

import type { Entry } from "../../core/model/entry.ts";
import type { LineMemory } from "../facets/reading.ts";
import { get, getString } from "../shared/fields.ts";
import { ATTACHMENT_TYPE, attachedIn, isNotification } from "./attachment.ts";
import { blockText } from "./blocks.ts";

/**
 * Reason of a prompt that leaves the queue in the middle of a turn; older versions have no reason.
 */
const ABSORBED = "absorbed_mid_turn";
const WAITING_MAX = 64;
const PROMPT_CHARS_MAX = 65_536;

interface QueueState {
  /** Prompts that wait, oldest first. */
  readonly waiting: readonly string[];
  /** The last dequeued prompt: the next user's row should contain it. */
  readonly taken: string | null;
  /** The log's version writes attachments. */
  readonly hasAttachments: boolean;
}

const EMPTY: QueueState = { waiting: [], taken: null, hasAttachments: false };

export class QueueMemory implements LineMemory {
  #waiting: string[];
  #taken: string | null;
  #hasAttachments: boolean;

  constructor(state: unknown = EMPTY) {
    const { waiting, taken, hasAttachments } = state as QueueState;
    this.#waiting = [...waiting];
    this.#taken = taken;
    this.#hasAttachments = hasAttachments;
  }

  read<Read extends Entry>(entry: Read): Read {
    const { native } = entry;
    switch (get(native, "type")) {
      case "queue-operation":
        return this.#operate(entry);
      case ATTACHMENT_TYPE:
        this.#hasAttachments = true;
        if (attachedIn(native) !== null) this.#settle(entry);
        return entry;
      case "user":
        this.#settle(entry);
        return entry;
      default:
        return entry;
    }
  }

  state(): QueueState {
    const [waiting, taken] = [[...this.#waiting], this.#taken];
    return { waiting, taken, hasAttachments: this.#hasAttachments };
  }

  #operate<Read extends Entry>(entry: Read): Read {
    const { native } = entry;
    const content = getString(native, "content");
    switch (get(native, "operation")) {
      case "enqueue":
        if (content !== null && content.length <= PROMPT_CHARS_MAX) this.#waiting.push(content);
        this.#waiting.splice(0, this.#waiting.length - WAITING_MAX);
        return entry;
      case "dequeue":
        this.#taken = this.#take(content);
        return entry;
      case "popAll":
        if (content === null) this.#waiting = [];
        else this.#take(content);
        return entry;
      case "remove":
        return this.#remove(entry, content);
      default:
        return entry;
    }
  }

  /** Returns the prompt at `remove` only if no other row contains it. */
  #remove<Read extends Entry>(entry: Read, content: string | null): Read {
    const prompt = this.#take(content);
    const reason = getString(entry.native, "reason") ?? ABSORBED;
    const isTaken = reason === ABSORBED && !this.#hasAttachments;
    if (prompt === null || !isTaken || prompt.trim() === "") return entry;
    const parts = [{ type: "text", text: prompt }] as const;
    const by = isNotification(prompt) ? ({ saidBy: "program" } as const) : {};
    return { ...entry, kind: "message", role: "user", ...by, parts };
  }

  /** Takes the prompt of that text, else the oldest one, out of the queue. */
  #take(content: string | null): string | null {
    const at = content === null ? 0 : this.#waiting.indexOf(content);
    return at < 0 ? null : (this.#waiting.splice(at, 1)[0] ?? null);
  }

  /** A row contains the prompt, whichever was assumed to be dequeued. */
  #settle({ parts }: Entry): void {
    const taken = this.#taken;
    this.#taken = null;
    if (this.#waiting.length === 0) return;
    const text = blockText(parts);
    const at = this.#waiting.indexOf(text);
    if (text === taken || at < 0) return;
    this.#waiting.splice(at, 1);
    if (taken !== null) this.#waiting.unshift(taken);
  }
}
