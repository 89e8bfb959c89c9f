/**
 * What OpenAI's chat completions accept, from the types of its SDK and its published rules: a message
 * with `tool_calls` is followed by exactly their `tool` messages, and there are no others; an
 * assistant's message has content or calls, at most 128; ids have at most 40 characters, names 64.
 */

import type OpenAI from "openai";
import type { ChatMessage } from "../../../src/resume/targets/openai.ts";
import { Faults } from "./facts.ts";

/** Compiles only while our type matches the SDK's. */
export function asParams(
  messages: readonly ChatMessage[],
): OpenAI.Chat.ChatCompletionMessageParam[] {
  return [...messages];
}

export function openaiChatFaults(messages: readonly ChatMessage[]): string[] {
  const faults = new Faults();
  const params = asParams(messages);
  const ids = new Set<string>();
  let open: string[] = [];
  faults.expect(params.length > 0, "there is no message");
  const first = params.find(({ role }) => role !== "system");
  faults.expect(first?.role === "user", "the first message is not the user's");
  for (const [at, message] of params.entries()) {
    const where = `messages.${at}`;
    if (message.role === "tool") {
      faults.keys(message, where, "role", "tool_call_id", "content");
      faults.expect(open.includes(message.tool_call_id), `${where}: a result of no call before it`);
      open = open.filter((id) => id !== message.tool_call_id);
      faults.wire(String(message.content), where);
      continue;
    }
    faults.expect(open.length === 0, `${where} is between calls and their results`);
    if (message.role === "assistant") {
      faults.keys(message, where, "role", "content", "tool_calls?", "reasoning_details?");
      const { content, tool_calls: calls } = message;
      if (content === null) faults.expect(calls !== undefined, `${where} says nothing`);
      else faults.text(content, where);
      if (calls !== undefined) faults.expect(calls.length > 0, `${where}: no calls`);
      faults.expect((calls?.length ?? 0) <= 128, `${where}: too many calls`);
      for (const call of calls ?? []) {
        judgeCall(call, where, faults);
        faults.expect(!ids.has(call.id), `${where}: a call's id is used twice`);
        ids.add(call.id);
        open.push(call.id);
      }
    } else {
      faults.keys(message, where, "role", "content");
      faults.expect(["user", "system"].includes(message.role), `${where}: ${message.role}`);
      judgeContent(message.content, where, faults);
    }
  }
  faults.expect(open.length === 0, "the last calls have no results");
  const last = params.findLast(({ role }) => role !== "system")?.role ?? "";
  faults.expect(["user", "tool"].includes(last), "the last word is the model's");
  return faults.list;
}

function judgeCall(
  call: OpenAI.Chat.ChatCompletionMessageToolCall,
  where: string,
  faults: Faults,
): void {
  faults.keys(call, where, "id", "type", "function");
  faults.match(call.id, /^[A-Za-z0-9_-]{1,40}$/, `${where}.id`);
  if (call.type !== "function") {
    faults.expect(false, `${where}: ${call.type}`);
    return;
  }
  faults.keys(call.function, where, "name", "arguments");
  faults.match(call.function.name, /^[a-zA-Z0-9_-]{1,64}$/, `${where}.name`);
  faults.json(call.function.arguments, `${where}.arguments`);
}

function judgeContent(content: unknown, where: string, faults: Faults): void {
  if (!Array.isArray(content)) {
    faults.text(content, where);
    return;
  }
  faults.expect(content.length > 0, `${where} is empty`);
  for (const part of content) {
    if (part.type === "text") {
      faults.keys(part, where, "type", "text");
      faults.text(part.text, where);
    } else {
      faults.keys(part, where, "type", "image_url");
      faults.keys(part.image_url, where, "url");
      faults.image(part.image_url.url, where);
    }
  }
}
