/**
 * Fit: leaves out, and tells, what the target does not take.
 *
 * FI1  Thinking goes byte-exact with its seal, or the whole block goes. A provider compares the
 *      blocks of a message with those it made, so one that must go takes the others of its message
 *      along. None is ever emptied.
 * FI2  A message that has thoughts begins with one and does not end in one: Anthropic refuses others.
 *      It takes what the model said twice in a row for one message, so two with thoughts lose them.
 * FI3  System messages before all others are the system prompt. Later ones are the user's words,
 *      marked, where the target has no place for them.
 * FI4  A message with more calls than the target takes in one is several, each with its results.
 */

import { withCompactions } from "./compaction.ts";
import {
  type AssistantMessage,
  type CallPiece,
  type CallResult,
  callsIn,
  type NeutralMessage,
  type ReasoningPiece,
  type Spoken,
  type TextPiece,
} from "./conversation.ts";
import { SYSTEM_SAID } from "./phrases.ts";
import type { RepairReason, Repairs } from "./repair-report.ts";
import type { Takes } from "./targets/target.ts";
import { isBlank, isSendable, sendableValue } from "./wire-text.ts";

export interface Fitted {
  readonly system: readonly TextPiece[];
  readonly messages: readonly NeutralMessage[];
}

export function fitTo(messages: readonly NeutralMessage[], takes: Takes, repairs: Repairs): Fitted {
  const system: TextPiece[] = [];
  const fitted: NeutralMessage[] = [];
  let run: Run | null = null;
  for (const message of withCompactions(messages, takes, repairs)) {
    if (message.role === "assistant") {
      for (const part of split(message, takes.callsMax, repairs)) {
        const said = fitAssistant(part, takes, repairs);
        if (said.length > 0) run = addAssistant(fitted, run, said, takes, repairs);
      }
      continue;
    }
    run = null;
    if (message.role === "user" || (fitted.length > 0 && takes.systemAnywhere)) {
      fitted.push(message);
    } else if (fitted.length === 0) {
      system.push(...message.content); // FI3
    } else {
      fitted.push({ role: "user", content: message.content.map((each) => asUsers(each, repairs)) });
    }
  }
  return { system, messages: fitted };
}

function asUsers(piece: TextPiece, repairs: Repairs): TextPiece {
  if (piece.from) repairs.change(piece.from, "system_as_user");
  return { ...piece, text: `${SYSTEM_SAID}\n${piece.text}` };
}

/** FI4 */
function split(
  message: AssistantMessage,
  callsMax: number | null,
  repairs: Repairs,
): readonly AssistantMessage[] {
  if (callsMax === null || callsIn(message).length <= callsMax) return [message];
  let content: Spoken[] = [];
  const parts = [{ role: "assistant", content } as const];
  let calls = 0;
  for (const piece of message.content) {
    if (piece.type === "call" && ++calls > callsMax) {
      repairs.move(piece.from, "calls_split", piece.recordedId);
      [content, calls] = [[], 1];
      parts.push({ role: "assistant", content });
    }
    content.push(piece);
  }
  return parts;
}

function fitAssistant(message: AssistantMessage, takes: Takes, repairs: Repairs): Spoken[] {
  const content = withDetails(message.content, takes, repairs);
  const why = whyNoThinking({ role: "assistant", content }, takes);
  return content.flatMap((piece): Spoken[] => {
    if (piece.type === "call") return [fitCall(piece, takes, repairs)];
    if (piece.type !== "reasoning" || why === null) return [piece];
    repairs.leaveOut(piece.from, faultOf(piece) ?? why);
    return [];
  });
}

/** OpenRouter's thoughts go with something that was said, to a target that takes them. */
function withDetails(content: readonly Spoken[], takes: Takes, repairs: Repairs): Spoken[] {
  const isSaid = content.some(({ type }) => type === "text" || type === "call");
  return content.filter((piece) => {
    if (piece.type !== "details") return true;
    const isSendable = sendableValue(piece.details)?.isSame === true;
    if (takes.details && isSaid && isSendable) return true;
    const fault = isSendable ? "thinking_last" : "thinking_unsendable";
    repairs.leaveOut(piece.from, takes.details ? fault : "thinking_not_taken");
    return false;
  });
}

/** The last message so far, when it is the assistant's and calls nothing: the next may join it. */
interface Run {
  content: Spoken[];
  hasThoughts: boolean;
}

/** As a message of its own, or with the one before where a target takes the two for one (FI2). */
function addAssistant(
  fitted: NeutralMessage[],
  run: Run | null,
  said: Spoken[],
  takes: Takes,
  repairs: Repairs,
): Run | null {
  const hasThoughts = said.some(({ type }) => type === "reasoning");
  const calls = said.some(({ type }) => type === "call");
  if (!takes.thinking || !run) {
    fitted.push({ role: "assistant", content: said });
    return calls ? null : { content: said, hasThoughts };
  }
  if (run.content.every(({ type }) => type === "compaction")) {
    for (const piece of said) run.content.push(piece); // What was summed up is no message's begin.
    run.hasThoughts = hasThoughts;
    return calls ? null : run;
  }
  if (hasThoughts && run.hasThoughts) {
    run.content = thoughtless(run.content, repairs);
    run.hasThoughts = false;
    fitted[fitted.length - 1] = { role: "assistant", content: run.content };
  }
  for (const piece of hasThoughts ? thoughtless(said, repairs) : said) run.content.push(piece);
  return calls ? null : run;
}

function thoughtless(content: readonly Spoken[], repairs: Repairs): Spoken[] {
  return content.filter((piece) => {
    if (piece.type !== "reasoning") return true;
    repairs.leaveOut(piece.from, "thinking_not_first");
    return false;
  });
}

/** Why the thoughts of a message are left out, those without a fault of their own too (FI1). */
function whyNoThinking({ content }: AssistantMessage, takes: Takes): RepairReason | null {
  if (!takes.thinking) return "thinking_not_taken";
  if (content.at(-1)?.type === "reasoning") return "thinking_last"; // FI2
  const first = content.find(({ type }) => type !== "compaction");
  if (first?.type !== "reasoning") return "thinking_not_first";
  const isFaulty = content.some((piece) => piece.type === "reasoning" && faultOf(piece) !== null);
  return isFaulty ? "thinking_with_it" : null;
}

/** Why a thought cannot go back to Anthropic, the one that takes any; null when it can. */
function faultOf(thought: ReasoningPiece): RepairReason | null {
  const { text, signature, withheld } = thought;
  if (!isSendable(text) || !isSendable(signature ?? "") || !isSendable(withheld ?? "")) {
    return "thinking_unsendable";
  }
  const isAnthropics = isByAnthropic(thought);
  if (withheld !== null) {
    // OpenAI keeps thoughts unreadable too, and nobody else can read those.
    const isGood = isAnthropics === true && text === "" && !signature && withheld !== "";
    return isGood ? null : "thinking_foreign";
  }
  if (!signature || !mayBeSignature(signature)) return "thinking_unsigned";
  if (isAnthropics === false) return "thinking_foreign"; // Others seal thoughts too.
  // Anthropic gives and takes such blocks, but not what a program emptied: nobody can tell.
  return isBlank(text) ? "thinking_empty" : null;
}

/** Providers sign in base64; a program that redacts a log leaves a word there that is not. */
function mayBeSignature(signature: string): boolean {
  return /^[\w+/-]+={0,2}$/.test(signature);
}

/** Null when the entry does not tell. */
function isByAnthropic({ provider, model }: ReasoningPiece): boolean | null {
  if (provider !== null) return provider === "anthropic";
  return model === null ? null : /claude/i.test(model);
}

function fitCall(call: CallPiece, { resultImages }: Takes, repairs: Repairs): CallPiece {
  const { result } = call;
  if (!result || resultImages === "all") return call;
  const content = result.content.filter((piece) => {
    if (piece.type !== "image") return true;
    if (resultImages === "data" && piece.image.kind === "data") return true;
    if (piece.from) repairs.leaveOut(piece.from, "image_not_taken");
    return false;
  });
  const fitted: CallResult = { ...result, content };
  return { ...call, result: fitted };
}
