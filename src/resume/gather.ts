/**
 * Gather: entries to neutral messages, in the order of the log, calls paired with their results.
 *
 * - One message of the model is one message, also where a log has a line per block, or results
 *   between them: lines follow one another, or have the same message id. Inside one line results
 *   end a message: the model wrote what follows after seeing them.
 * - A result goes to its call (CV3). One without a call is kept as a user's text, marked; a second
 *   one for the same call is left out.
 * - Lines aside from the conversation (another agent's rows, the program's own error texts, reports
 *   of earlier resumes) are not part of it.
 */

import type { Aside, MediaPart, Part } from "../core/model/entry.ts";
import { ERASE_REPORT } from "../core/model/erasure.ts";
import { CallPairing, opensTurn } from "../core/model/pairing.ts";
import type { VerifiedEntry } from "../evidence/verify/verified-entries.ts";
import { jsonText } from "../sessions/render/text.ts";
import { brokenCallIn, CallIds, resultContent, toolName } from "./call-parts.ts";
import { compactionIn } from "./compaction.ts";
import type { AnswerPiece, CallPiece, InputPiece, NeutralMessage } from "./conversation.ts";
import { imageOf } from "./image.ts";
import { type EntryLine, IN_ROWS, type RepairReason, type Repairs } from "./repair-report.ts";
import { charsOf, type Room } from "./room.ts";
import {
  holdsRoundedNumber,
  isBlank,
  NOT_STARTED_RESULT,
  STRAY_OUTPUT,
  STRAY_RESULT,
  sendableText,
  sendableValue,
} from "./wire-text.ts";

/** The type of the block that reports a resume inside a session (continue.ts). */
export const REPORT_TYPE = "resume_report";
/** The type of the block in a session that came from another dialect (handoff/unpack.ts). */
export const HANDOFF_TYPE = "handoff_report";
const REPORT_TYPES: readonly unknown[] = [REPORT_TYPE, HANDOFF_TYPE, ERASE_REPORT];
/** The report's reasons for lines aside from the conversation. */
const ASIDES: Readonly<Record<Aside, RepairReason>> = {
  other_agent: "sidechain",
  program: "synthetic",
  taken_back: "taken_back",
  compacted: "compacted",
  attachment: "attachment",
};
/** Results whose texts are remembered, to recognise an echo. */
const ECHOES_MAX = 64;

/** The fields of an entry that gathering needs. */
export type GatheredEntry = Pick<VerifiedEntry, "kind" | "role" | "parts" | "model"> &
  Pick<VerifiedEntry, "start" | "line" | "verified"> & {
    readonly messageId?: string;
    /** From its dialect; absent or null: part of the conversation. */
    readonly aside?: Aside | null;
    /** A line that is not a message, and may have been seen by the model or not. */
    readonly isUnknown?: true;
  };

type SaidCall = Pick<Extract<Part, { type: "tool_call" }>, "callId" | "tool" | "input">;

interface OpenMessage {
  readonly role: "assistant";
  /** Its index among the messages. */
  readonly index: number;
  readonly content: AnswerPiece[];
  messageId: string | null;
}

/** A call that waits for its result, and its message. */
interface SaidOpen {
  call: CallPiece | null;
  message: OpenMessage | null;
}

export class Gathering {
  readonly #repairs: Repairs;
  readonly #room: Room;
  readonly #messages: NeutralMessage[] = [];
  readonly #lateAnswers: number[] = [];
  readonly #pairing = new CallPairing<SaidOpen>();
  readonly #ids = new CallIds();
  /** What the model says next belongs to this message; null when something came between. */
  #open: OpenMessage | null = null;
  /** The last one, as long as only results came after it. */
  #last: OpenMessage | null = null;
  /** The line of the last result. */
  #answeredIn: number | null = null;
  /** User content of the last message, and its line. */
  #heard: { readonly line: number; readonly content: InputPiece[] } | null = null;
  /** Texts of the latest results: rye repeats them as input of the model. */
  readonly #echoes: string[] = [];

  constructor(repairs: Repairs, room: Room) {
    this.#repairs = repairs;
    this.#room = room;
  }

  get messages(): readonly NeutralMessage[] {
    return this.#messages;
  }

  /**
   * The indexes of messages with a call that was answered when they were no longer the last: except
   * for this, only the last message changes.
   */
  get lateAnswers(): readonly number[] {
    return this.#lateAnswers;
  }

  add(entry: GatheredEntry): void {
    const at: EntryLine = { line: entry.line, offset: entry.start, verified: entry.verified };
    const aside = whyAside(entry);
    // Consecutive silent lines are one action, however many; all others count against the limit.
    if (aside === null || !IN_ROWS.includes(aside))
      this.#room.takeParts(Math.max(1, entry.parts.length), entry.line);
    if (aside !== null) {
      if (entry.kind === "turn_start") {
        this.#open = null;
        this.#pairing.beginTurn();
      }
      this.#repairs.leaveOut(at, aside);
      return;
    }
    const isUsed = entry.parts.map((part) => this.#addPart(part, entry, at)).includes(true);
    if (opensTurn(entry)) this.#pairing.beginTurn();
    if (!isUsed && !this.#repairs.hasLeftOut(at)) this.#repairs.leaveOut(at, "blank");
  }

  /** Returns whether anything of the part is in the conversation now. */
  #addPart(part: Part, entry: GatheredEntry, at: EntryLine): boolean {
    switch (part.type) {
      case "text":
        return this.#addText(part.text, entry, at);
      case "reasoning":
        this.#say(entry, {
          type: "reasoning",
          from: at,
          text: part.text,
          signature: part.signature ?? null,
          withheld: part.withheld ?? null,
          provider: part.provider ?? null,
          model: entry.model,
        });
        return true;
      case "tool_call":
        return this.#addCall(part, entry, at);
      case "tool_result":
        return this.#addResult(part, at);
      case "child":
        return this.#leaveOut(at, "child");
      case "image":
        return this.#addImage(part, entry, at);
      case "file":
        return this.#leaveOut(at, "block_not_taken");
      case "other":
        return this.#addOther(part.native, entry, at);
    }
  }

  #addText(text: string, entry: GatheredEntry, at: EntryLine): boolean {
    const { role } = entry;
    if (isBlank(text)) return this.#leaveOut(at, "blank");
    if (role === "tool") return this.#addOutput(text, at);
    const piece = { type: "text", text: this.#sendable(text, at), from: at } as const;
    if (role === "assistant") this.#say(entry, piece);
    else if (role !== "system") this.#hear([piece], at);
    else {
      this.#takeRoom([piece], at);
      this.#open = null;
      this.#last = null;
      this.#heard = null;
      this.#messages.push({ role: "system", content: [piece] });
    }
    return true;
  }

  /** A tool's output without a call id; often an echo of the last result. */
  #addOutput(text: string, at: EntryLine): boolean {
    const sendable = this.#sendable(text, at);
    if (this.#echoes.includes(sendable)) return this.#leaveOut(at, "echo");
    this.#repairs.change(at, "stray_output_as_text");
    this.#hear([{ type: "text", text: `${STRAY_OUTPUT}\n${sendable}`, from: at }], at);
    return true;
  }

  #addCall(
    part: Extract<Part, { type: "tool_call" }>,
    entry: GatheredEntry,
    at: EntryLine,
  ): boolean {
    const { callId } = part;
    const open: SaidOpen = { call: null, message: null };
    const { line, messageId } = entry;
    const message = { entry: line, ...(messageId === undefined ? {} : { messageId }) };
    const isCall = this.#pairing.addCall(part, open, message);
    if (!isCall) return this.#leaveOut(at, "repeated_call", callId);
    open.call = this.#call(part, at);
    open.message = this.#say(entry, open.call);
    return true;
  }

  #addResult(part: Extract<Part, { type: "tool_result" }>, at: EntryLine): boolean {
    const { callId } = part;
    const { fit, call: open } = this.#pairing.answer(callId);
    const { call = null, message = null } = open?.at ?? {};
    if (fit === "duplicate") return this.#leaveOut(at, "duplicate_result", callId);
    const content = resultContent(part, at, this.#repairs);
    this.#remember(content);
    if (!call) {
      this.#repairs.change(at, "stray_result_as_text", callId);
      this.#hear([{ type: "text", text: STRAY_RESULT, from: at }, ...content], at);
      return true;
    }
    this.#takeRoom(content, at);
    call.result = { content, isError: part.error !== null, from: at };
    const { index = 0 } = message ?? {};
    if (index < this.#messages.length - 1) this.#lateAnswers.push(index);
    if (this.#last !== message) this.#repairs.move(at, "result_regrouped", callId);
    this.#open = null;
    this.#answeredIn = at.line;
    return true;
  }

  #addOther(native: unknown, entry: GatheredEntry, at: EntryLine): boolean {
    const { type, refusal } = (native ?? {}) as { readonly [key: string]: unknown };
    if (REPORT_TYPES.includes(type)) return this.#leaveOut(at, "resume_report");
    const broken = brokenCallIn(native);
    if (broken && entry.role === "assistant") {
      const { callId, tool, inputText } = broken;
      const call = this.#call({ callId, tool, input: { input_text: inputText } }, at);
      const text = { type: "text", text: NOT_STARTED_RESULT, from: null } as const;
      call.result = { content: [text], isError: true, from: null };
      this.#repairs.change(at, "call_broken_off", callId);
      this.#repairs.add(at, "not_started_result", callId);
      this.#say(entry, call);
      return true;
    }
    const summed = entry.role === "assistant" ? compactionIn(native) : null;
    if (summed) {
      this.#say(entry, { type: "compaction", from: at, ...summed, model: entry.model });
      return true;
    }
    const details = entry.role === "assistant" ? detailsIn(native) : null;
    if (details) {
      this.#say(entry, { type: "details", from: at, details });
      return true;
    }
    if (type === "refusal" && typeof refusal === "string" && entry.role === "assistant") {
      this.#repairs.change(at, "refusal_as_text");
      return this.#addText(refusal, entry, at);
    }
    return this.#leaveOut(at, "block_not_taken");
  }

  #addImage(part: MediaPart, { role }: GatheredEntry, at: EntryLine): boolean {
    const image = role === "user" || role === "tool" ? imageOf(part) : null;
    if (image === null) return this.#leaveOut(at, "image_not_taken");
    this.#hear([{ type: "image", image, from: at }], at);
    return true;
  }

  #call({ callId, tool: recorded, input }: SaidCall, from: EntryLine): CallPiece {
    const id = this.#ids.next(callId);
    if (id !== callId) this.#repairs.change(from, "call_renamed", callId);
    const tool = toolName(recorded);
    if (tool !== recorded) this.#repairs.change(from, "tool_renamed", callId);
    const fit = this.#input(input, from, callId);
    return { type: "call", from, id, tool, input: fit, recordedId: callId, result: null };
  }

  #input(input: unknown, at: EntryLine, callId: string | null): Readonly<Record<string, unknown>> {
    const sendable = sendableValue(input);
    if (sendable?.isSame === false) this.#repairs.change(at, "escaped", callId);
    if (holdsRoundedNumber(input)) this.#repairs.change(at, "number_rounded", callId);
    const value = sendable === null ? jsonText(input) : sendable.value;
    this.#room.takeChars(sendable?.chars ?? String(value).length, at.line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>;
    }
    this.#repairs.change(at, "input_wrapped", callId);
    return value === null || value === undefined ? {} : { input: value };
  }

  /** Returns the message that it is in now. */
  #say(entry: GatheredEntry, piece: AnswerPiece): OpenMessage {
    if (piece.type !== "call") this.#takeRoom([piece], entry);
    const messageId = entry.messageId ?? null;
    const last = this.#answeredIn === entry.line ? null : this.#last;
    const isLast = last !== null && messageId !== null && last.messageId === messageId;
    const open = isLast ? last : this.#open;
    const isOther = messageId !== null && open?.messageId != null && open.messageId !== messageId;
    if (open && !isOther) {
      open.messageId ??= messageId;
      open.content.push(piece);
      this.#open = open;
      return open;
    }
    const index = this.#messages.length;
    const message: OpenMessage = { role: "assistant", index, content: [piece], messageId };
    this.#messages.push(message);
    this.#open = message;
    this.#last = message;
    this.#heard = null;
    return message;
  }

  /** Adds input of the model; what it says after that is another message. */
  #hear(content: readonly InputPiece[], at: EntryLine): void {
    this.#takeRoom(content, at);
    this.#open = null;
    this.#last = null;
    if (this.#heard?.line !== at.line) {
      this.#heard = { line: at.line, content: [] };
      this.#messages.push({ role: "user", content: this.#heard.content });
    }
    for (const piece of content) this.#heard.content.push(piece);
  }

  #takeRoom(
    content: readonly (InputPiece | Exclude<AnswerPiece, CallPiece>)[],
    { line }: Pick<EntryLine, "line">,
  ): void {
    for (const piece of content) this.#room.takeChars(charsOf(piece), line);
  }

  #remember(content: readonly InputPiece[]): void {
    for (const piece of content) if (piece.type === "text") this.#echoes.push(piece.text);
    this.#echoes.splice(0, this.#echoes.length - ECHOES_MAX);
  }

  #sendable(text: string, at: EntryLine): string {
    const sendable = sendableText(text);
    if (sendable !== text) this.#repairs.change(at, "escaped");
    return sendable;
  }

  #leaveOut(at: EntryLine, why: RepairReason, callId?: string | null): false {
    this.#repairs.leaveOut(at, why, callId);
    return false;
  }
}

/** Why an entry is not part of the conversation; null when it is. */
function whyAside(entry: GatheredEntry): RepairReason | null {
  const { kind, role, parts, aside, isUnknown } = entry;
  if (aside) return ASIDES[aside];
  if (kind === "message" && role !== null) return null;
  if (parts.some(({ type }) => type === "child")) return "child";
  return isUnknown || parts.length > 0 ? "not_understood" : "silent";
}

/**
 * The reasoning of a chat message as OpenRouter sends it and capture keeps it; null when it is
 * another.
 */
function detailsIn(native: unknown): readonly unknown[] | null {
  const { type, reasoning_details: details } = (native ?? {}) as Readonly<Record<string, unknown>>;
  return type === "delta" && Array.isArray(details) && details.length > 0 ? details : null;
}
