/**
 * What the AI SDK accepts as model messages: by its own types and its published schema
 * (`modelMessageSchema`), and by the check that it makes of every prompt: a `tool` message with all
 * results of the called tools follows an assistant's calls. Its provider for Anthropic merges
 * consecutive messages, so thinking is only at the beginning of the first.
 */

import { type ModelMessage, modelMessageSchema } from "ai";
import type { AiSdkMessage, AiSdkOutput } from "../../../src/resume/targets/ai-sdk.ts";
import { Faults } from "./facts.ts";

/** Messages that the schema accepted: prefixes of a session have most of them in common. */
const accepted = new Set<string>();

function isOfSchema(message: ModelMessage): boolean {
  const text = JSON.stringify(message);
  if (accepted.has(text)) return true;
  const { success } = modelMessageSchema.safeParse(message);
  if (success && text.length < 10_000) accepted.add(text);
  return success;
}

export function aiSdkFaults(messages: readonly AiSdkMessage[]): string[] {
  const faults = new Faults();
  const ids = new Set<string>();
  let open = new Map<string, string>();
  faults.expect(messages[0]?.role === "user", "the first message is not the user's");
  faults.expect(messages.at(-1)?.role !== "assistant", "the last word is the model's");
  for (const [at, message] of messages.entries()) {
    const where = `messages.${at}`;
    const typed: ModelMessage = message;
    faults.expect(isOfSchema(typed), `${where} is not the SDK's`);
    faults.keys(message, where, "role", "content");
    faults.expect(message.content.length > 0, `${where} is empty`);
    faults.expect(message.role === "tool" || open.size === 0, `${where}: calls are open`);
    if (message.role === "tool") {
      for (const { type, toolCallId, toolName, output } of message.content) {
        faults.expect(type === "tool-result", `${where}: ${type}`);
        faults.expect(open.get(toolCallId) === toolName, `${where}: a result of no call`);
        open.delete(toolCallId);
        judgeOutput(output, where, faults);
      }
      faults.expect(open.size === 0, `${where}: calls without results`);
    } else if (message.role === "user") {
      for (const part of message.content) {
        if (part.type === "text") faults.text(part.text, where);
        else faults.image(part.image, where);
      }
    } else {
      const isFirst =
        messages[at - 1]?.role !== "assistant" && message.content[0]?.type === "reasoning";
      const isThoughtful = message.content.some(({ type }) => type === "reasoning");
      faults.expect(!isThoughtful || isFirst, `${where}: a thought that is not first`);
      open = judgeSpoken(message.content, where, faults);
      for (const id of open.keys()) {
        faults.expect(!ids.has(id), `${where}: a call's id is used twice`);
        ids.add(id);
      }
    }
  }
  faults.expect(open.size === 0, "the last calls have no results");
  return faults.list;
}

function judgeSpoken(
  content: Extract<AiSdkMessage, { role: "assistant" }>["content"],
  where: string,
  faults: Faults,
): Map<string, string> {
  const calls = new Map<string, string>();
  for (const part of content) {
    if (part.type === "text") faults.text(part.text, where);
    if (part.type === "reasoning") {
      const { anthropic: seal } = part.providerOptions;
      faults.text("signature" in seal ? seal.signature : seal.redactedData, where);
      faults.wire(part.text, where);
    }
    if (part.type === "tool-call") {
      faults.keys(part, where, "type", "toolCallId", "toolName", "input");
      faults.match(part.toolCallId, /^[A-Za-z0-9_-]{1,40}$/, where);
      faults.match(part.toolName, /^[A-Za-z0-9_-]{1,64}$/, where);
      faults.value(part.input, where);
      calls.set(part.toolCallId, part.toolName);
    }
  }
  faults.expect(content.at(-1)?.type !== "reasoning", `${where} ends with a thought`);
  return calls;
}

function judgeOutput(output: AiSdkOutput, where: string, faults: Faults): void {
  faults.keys(output, where, "type", "value");
  if (output.type === "error-text") faults.text(output.value, where);
  if (output.type === "text") faults.wire(output.value, where);
  if (output.type !== "content") return;
  faults.expect(output.value.length > 0, `${where}: an output of nothing`);
  for (const part of output.value) {
    if (part.type === "text") faults.text(part.text, where);
    else faults.image(`data:${part.mediaType};base64,${part.data}`, where);
  }
}
