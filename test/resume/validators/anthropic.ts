/**
 * What Anthropic's Messages API accepts, from the types of its SDK and its published rules:
 *
 * - roles alternate, the user first and last; no message is empty
 * - text blocks are not blank; a tool's error is text and not empty
 * - every `tool_use` has its `tool_result` at the beginning of the next message, each once, and no
 *   result is there without its call; ids are unique and match `[a-zA-Z0-9_-]`
 * - a compaction block is the first of the conversation, has the assistant role, and is the only one
 * - thinking has its signature; a message with thinking begins with it, and does not end with it
 */

import type Anthropic from "@anthropic-ai/sdk";
import type { AnthropicMessage } from "../../../src/resume/targets/anthropic.ts";
import { Faults } from "./facts.ts";

/** Compiles only while our type matches the SDK's. */
export function asParams(messages: readonly AnthropicMessage[]): Anthropic.MessageParam[] {
  return [...messages];
}

type Message = Anthropic.Beta.BetaMessageParam;
type Block = Exclude<NonNullable<Message["content"]>, string>[number];

export function anthropicFaults(messages: readonly AnthropicMessage[]): string[] {
  const faults = new Faults();
  const ids = new Set<string>();
  const params: Message[] = asParams(messages) as Message[];
  faults.expect(params.length > 0, "there is no message");
  const isCompacted = isFirst(params[0], "compaction");
  faults.expect(params[0]?.role === "user" || isCompacted, "the first message is not the user's");
  const summaries = params.flatMap(({ content }) => typesOf(content)).filter(isSummary).length;
  faults.expect(
    summaries === (isCompacted ? 1 : 0),
    "a compaction block is not alone, or not first",
  );
  faults.expect(params.at(-1)?.role === "user", "the last message is not the user's");
  let open: readonly string[] = [];
  for (const [at, message] of params.entries()) {
    const where = `messages.${at}`;
    faults.keys(message, where, "role", "content");
    faults.expect(message.role !== params[at - 1]?.role, `${where} is the same speaker's`);
    const { content = "" } = message;
    if (typeof content === "string") {
      faults.text(content, where);
      continue;
    }
    faults.expect(content.length > 0, `${where} is empty`);
    for (const [n, block] of content.entries()) {
      judge(block, message.role, `${where}.${n}`, faults);
    }
    const last = content.at(-1)?.type ?? "";
    faults.expect(!last.includes("thinking"), `${where} ends with a thought`);
    const types = typesOf(content).filter((type) => !isSummary(type));
    const isThoughtful = types.some((type) => type.includes("thinking"));
    faults.expect(!isThoughtful || types[0]?.includes("thinking") === true, `${where}: text first`);
    const results = content.flatMap((block, n) => {
      return block.type === "tool_result" ? [{ id: block.tool_use_id, n }] : [];
    });
    const answered = results.map(({ id }) => id);
    faults.expect(
      JSON.stringify([...answered].sort()) === JSON.stringify([...open].sort()),
      `${where}: the results are not those of the calls before`,
    );
    faults.expect(
      results.every(({ n }, index) => n === index),
      `${where}: results come after other blocks`,
    );
    open = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    for (const id of open) {
      faults.expect(!ids.has(id), `${where}: a call's id is used twice`);
      ids.add(id);
    }
  }
  faults.expect(open.length === 0, "the last calls have no results");
  return faults.list;
}

function typesOf(content: Message["content"]): string[] {
  return typeof content === "string" ? [] : (content ?? []).map(({ type }) => type);
}

function isFirst(message: Message | undefined, type: string): boolean {
  return message?.role === "assistant" && typesOf(message.content)[0] === type;
}

function isSummary(type: string): boolean {
  return type === "compaction";
}

function judge(block: Block, role: string, where: string, faults: Faults): void {
  switch (block.type) {
    case "text":
      faults.keys(block, where, "type", "text");
      faults.text(block.text, where);
      break;
    case "image": {
      faults.expect(role === "user", `${where}: an image of the assistant's`);
      const { source } = block;
      if (source.type === "base64") {
        faults.keys(source, where, "type", "media_type", "data");
        faults.image(`data:${source.media_type};base64,${source.data}`, where);
      } else {
        faults.image(source.type === "url" ? source.url : null, where);
      }
      break;
    }
    case "thinking":
      faults.keys(block, where, "type", "thinking", "signature");
      faults.expect(role === "assistant", `${where}: a thought of the user's`);
      faults.text(block.thinking, where);
      faults.text(block.signature, where);
      break;
    case "redacted_thinking":
      faults.keys(block, where, "type", "data");
      faults.text(block.data, where);
      break;
    case "compaction":
      faults.keys(block, where, "type", "content", "encrypted_content?", "signature?");
      faults.text(block.content ?? "", where);
      break;
    case "tool_use":
      faults.keys(block, where, "type", "id", "name", "input");
      faults.expect(role === "assistant", `${where}: a call of the user's`);
      faults.match(block.id, /^[a-zA-Z0-9_-]+$/, `${where}.id`);
      faults.match(block.name, /^[a-zA-Z0-9_-]{1,64}$/, `${where}.name`);
      faults.json(JSON.stringify(block.input), `${where}.input`);
      break;
    case "tool_result":
      faults.keys(block, where, "type", "tool_use_id", "content?", "is_error?");
      faults.expect(role === "user", `${where}: a result of the assistant's`);
      judgeResult(block, where, faults);
      break;
    default:
      faults.list.push(`${where}: a block of the type ${block.type}`);
  }
}

function judgeResult(
  { content, is_error: isError }: Anthropic.Beta.BetaToolResultBlockParam,
  where: string,
  faults: Faults,
): void {
  if (typeof content === "string") faults.text(content, where);
  const blocks = typeof content === "string" ? [] : (content ?? []);
  if (content !== undefined && typeof content !== "string") {
    faults.expect(blocks.length > 0, `${where}: a content of nothing`);
  }
  if (isError) {
    faults.expect(content !== undefined, `${where}: an error without a word`);
    faults.expect(
      blocks.every(({ type }) => type === "text"),
      `${where}: an error that is not text`,
    );
  }
  for (const [n, block] of blocks.entries()) {
    if (block.type === "text" || block.type === "image") {
      judge(block, "user", `${where}.${n}`, faults);
    } else {
      faults.list.push(`${where}.${n}: ${block.type} in a result`);
    }
  }
}
