/**
 * What OpenAI's responses accept as input, from the types of its SDK and its published rules: every
 * `function_call` is followed by its `function_call_output`, each once, and there is no output
 * without its call; only calls and outputs are between them; our items have no ids, and there is no
 * reasoning, which would have to be followed by its own item.
 */

import type OpenAI from "openai";
import type { ResponsesItem } from "../../../src/resume/targets/openai.ts";
import { Faults } from "./facts.ts";

/** Compiles only while our type matches the SDK's. */
export function asInput(items: readonly ResponsesItem[]): OpenAI.Responses.ResponseInputItem[] {
  return [...items];
}

export function openaiResponsesFaults(items: readonly ResponsesItem[]): string[] {
  const faults = new Faults();
  const ids = new Set<string>();
  let open: string[] = [];
  asInput(items);
  faults.expect(items.length > 0, "there is no item");
  const messages = items.filter((item) => item.type !== "message" || item.role !== "system");
  const first = messages[0];
  faults.expect(
    first?.type === "message" && first.role === "user",
    "the first message is not the user's",
  );
  for (const [at, item] of items.entries()) {
    const where = `input.${at}`;
    if (item.type === "function_call") {
      faults.keys(item, where, "type", "call_id", "name", "arguments");
      faults.match(item.call_id, /^[A-Za-z0-9_-]{1,64}$/, `${where}.call_id`);
      faults.match(item.name, /^[a-zA-Z0-9_-]{1,64}$/, `${where}.name`);
      faults.json(item.arguments, `${where}.arguments`);
      faults.expect(!ids.has(item.call_id), `${where}: a call's id is used twice`);
      ids.add(item.call_id);
      open.push(item.call_id);
    } else if (item.type === "function_call_output") {
      faults.keys(item, where, "type", "call_id", "output");
      faults.expect(open.includes(item.call_id), `${where}: an output of no call before it`);
      open = open.filter((id) => id !== item.call_id);
      if (typeof item.output === "string") faults.wire(item.output, where);
      else judgeContent(item.output, where, faults);
    } else if (item.type === "compaction") {
      faults.keys(item, where, "type", "encrypted_content");
      faults.text(item.encrypted_content, where);
    } else {
      faults.keys(item, where, "type", "role", "content");
      const isSaidWithCalls = item.role === "assistant";
      faults.expect(open.length === 0 || isSaidWithCalls, `${where}: calls are open`);
      if (typeof item.content === "string") faults.text(item.content, where);
      else judgeContent(item.content, where, faults);
    }
  }
  faults.expect(open.length === 0, "the last calls have no outputs");
  const last = messages.at(-1);
  const isModels = last?.type === "message" && last.role === "assistant";
  faults.expect(!isModels, "the last word is the model's");
  return faults.list;
}

function judgeContent(content: readonly unknown[], where: string, faults: Faults): void {
  faults.expect(content.length > 0, `${where} is empty`);
  for (const part of content as readonly { type: string; text?: string; image_url?: string }[]) {
    if (part.type === "input_text") {
      faults.keys(part, where, "type", "text");
      faults.text(part.text, where);
    } else {
      faults.keys(part, where, "type", "image_url", "detail");
      faults.expect(part.type === "input_image", `${where}: ${part.type}`);
      faults.image(part.image_url, where);
    }
  }
}
