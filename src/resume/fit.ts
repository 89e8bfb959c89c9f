/**
 * Fit: leaves out, and reports, what the target does not accept.
 *
 * - Thinking is sent byte-exact with its signature, or the whole block is left out. A provider
 *   compares the blocks of a message with those it made, so leaving out one leaves out the others
 *   of its message. None is ever emptied.
 * - A message with thinking begins with it and does not end with it: Anthropic refuses others. It
 *   reads two assistant messages in a row as one, so two with thinking lose it.
 * - System messages before all others are the system prompt. Later ones become user text,
 *   marked, where the target has no place for them.
 * - A message with more calls than the target accepts is split, each part with its results.
 */

import {
  type AnswerPiece,
  type AssistantMessage,
  type CallPiece,
  type CallResult,
  callsIn,
  type NeutralMessage,
  type ReasoningPiece,
  type TextPiece,
} from "./conversation.ts";
import type { RepairReason, Repairs } from "./repair-report.ts";
import type { Takes } from "./targets/target.ts";
import { isBlank, isSendable, SYSTEM_SAID, sendableValue } from "./wire-text.ts";

export interface FittedConversation {
  readonly system: readonly TextPiece[];
  readonly messages: readonly NeutralMessage[];
}

/** Of messages in a row. `isBegun`: the conversation has some before them. */
export function fitTo(
  messages: readonly NeutralMessage[],
  isBegun: boolean,
  takes: Takes,
  repairs: Repairs,
): FittedConversation {
  const system: TextPiece[] = [];
  const fitted: NeutralMessage[] = [];
  let run: Run | null = null;
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const part of split(message, takes.callsMax, repairs)) {
        const said = fitAssistant(part, takes, repairs);
        if (said.length > 0) run = addAssistant(fitted, run, said, takes, repairs);
      }
      continue;
    }
    run = null;
    const isFirst = !isBegun && fitted.length === 0;
    if (message.role === "user" || (!isFirst && takes.systemAnywhere)) {
      fitted.push(message);
    } else if (isFirst) {
      system.push(...message.content);
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

function split(
  message: AssistantMessage,
  callsMax: number | null,
  repairs: Repairs,
): readonly AssistantMessage[] {
  if (callsMax === null || callsIn(message).length <= callsMax) return [message];
  let content: AnswerPiece[] = [];
  const parts = [{ role: "assistant", content } as const];
  let calls = 0;
  for (const piece of message.content) {
    if (piece.type === "call" && ++calls > callsMax) {
      repairs.move(piece.from, "calls_split", piece.recordedId);
      content = [];
      calls = 1;
      parts.push({ role: "assistant", content });
    }
    content.push(piece);
  }
  return parts;
}

function fitAssistant(message: AssistantMessage, takes: Takes, repairs: Repairs): AnswerPiece[] {
  const content = withDetails(message.content, takes, repairs);
  const why = whyNoThinking({ role: "assistant", content }, takes);
  return content.flatMap((piece): AnswerPiece[] => {
    if (piece.type === "call") return [fitCall(piece, takes, repairs)];
    if (piece.type !== "reasoning" || why === null) return [piece];
    repairs.leaveOut(piece.from, faultOf(piece) ?? why);
    return [];
  });
}

/** OpenRouter's reasoning is sent with text of the same message, to a target that accepts it. */
function withDetails(
  content: readonly AnswerPiece[],
  takes: Takes,
  repairs: Repairs,
): AnswerPiece[] {
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

/** The last message so far, if it is the assistant's and has no calls: the next may join it. */
interface Run {
  content: AnswerPiece[];
  hasThoughts: boolean;
}

/** Adds a message, or joins the one before where a target reads the two as one. */
function addAssistant(
  fitted: NeutralMessage[],
  run: Run | null,
  said: AnswerPiece[],
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
    for (const piece of said) run.content.push(piece); // A summary does not begin a message.
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

function thoughtless(content: readonly AnswerPiece[], repairs: Repairs): AnswerPiece[] {
  return content.filter((piece) => {
    if (piece.type !== "reasoning") return true;
    repairs.leaveOut(piece.from, "thinking_not_first");
    return false;
  });
}

/**
 * Why the thinking of a message is left out, including blocks without a fault of their own.
 */
function whyNoThinking({ content }: AssistantMessage, takes: Takes): RepairReason | null {
  if (!takes.thinking) return "thinking_not_taken";
  if (content.at(-1)?.type === "reasoning") return "thinking_last";
  const first = content.find(({ type }) => type !== "compaction");
  if (first?.type !== "reasoning") return "thinking_not_first";
  const isFaulty = content.some((piece) => piece.type === "reasoning" && faultOf(piece) !== null);
  return isFaulty ? "thinking_with_it" : null;
}

/** Why thinking cannot go back to Anthropic, the only target that accepts any; null when it can. */
function faultOf(thought: ReasoningPiece): RepairReason | null {
  const { text, signature, withheld } = thought;
  if (!isSendable(text) || !isSendable(signature ?? "") || !isSendable(withheld ?? "")) {
    return "thinking_unsendable";
  }
  const isAnthropics = isByAnthropic(thought);
  if (withheld !== null) {
    // OpenAI encrypts reasoning too, and only OpenAI can read it.
    const isGood = isAnthropics === true && text === "" && !signature && withheld !== "";
    return isGood ? null : "thinking_foreign";
  }
  if (!signature || !mayBeSignature(signature)) return "thinking_unsigned";
  if (isAnthropics === false) return "thinking_foreign"; // Other providers sign thinking too.
  // Anthropic sends and accepts empty blocks, but not one that a program emptied, which looks the
  // same.
  return isBlank(text) ? "thinking_empty" : null;
}

/** Providers sign in base64; a program that redacts a log leaves a word that is not. */
function mayBeSignature(signature: string): boolean {
  return /^[\w+/-]+={0,2}$/.test(signature);
}

/** Null when the entry does not say. */
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
