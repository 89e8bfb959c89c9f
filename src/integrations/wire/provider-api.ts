/**
 * Provider API: which API of a provider a call is for, and what its request says, in neutral terms.
 *
 * - The path decides, as all clients of an API and all servers compatible with it have the same.
 * - Messages are decoded by the readers of dialects that store the same JSON.
 * - System messages before the first other message are the system prompt.
 */

import type { Mutable } from "../../core/base/files.ts";
import { type Entry, emptyEntry, type Part, type Role } from "../../core/model/entry.ts";
import { readItem } from "../../dialects/agents/codex/item.ts";
import { partsOf as blockParts } from "../../dialects/entire/blocks.ts";
import { chatOf } from "../../dialects/shared/chat-message.ts";
import {
  get,
  getList,
  getObject,
  getObjects,
  getString,
  isObject,
  type JsonObject,
} from "../../dialects/shared/fields.ts";
import { googleParts } from "../../dialects/shared/google-parts.ts";

export type ProviderApi = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

export interface Message {
  readonly role: Role;
  readonly parts: readonly Part[];
}

export interface ModelRequest {
  readonly api: ProviderApi;
  readonly model: string | null;
  readonly system: readonly Part[];
  readonly tools: readonly unknown[];
  readonly messages: readonly Message[];
  /** OpenAI keeps the messages before these, under the id of its last response. */
  readonly previousResponse: string | null;
  /** Only JSON of a given shape may be answered, as programs ask for titles and checks. */
  readonly isStructured: boolean;
}

const PATHS: readonly (readonly [RegExp, ProviderApi])[] = [
  [/\/v1\/messages$/, "anthropic"],
  [/\/chat\/completions$/, "openai-chat"],
  [/\/responses$/, "openai-responses"],
  [/\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/, "gemini"],
];

/** Null: a call of another kind, which is passed on and not recorded. */
export function apiOf(method: string, target: string): ProviderApi | null {
  const [path = ""] = target.split("?", 1);
  return (method === "POST" && PATHS.find(([pattern]) => pattern.test(path))?.[1]) || null;
}

/** What a request says; null if it is not one of this API. */
export function readRequest(api: ProviderApi, body: unknown, path: string): ModelRequest | null {
  if (!isObject(body)) return null;
  const words = READERS[api](body);
  if (words === null) return null;
  const at = words.messages.findIndex(({ role }) => role !== "system");
  const leading = at < 0 ? words.messages.length : at;
  const model = getString(body, "model") ?? /\/models\/([^/:]+):/.exec(path)?.[1] ?? null;
  return {
    api,
    model,
    system: [...words.system, ...words.messages.slice(0, leading).flatMap(({ parts }) => parts)],
    tools: [...getList(body, "tools"), ...getList(body, "functions"), ...(words.tools ?? [])],
    messages: words.messages.slice(leading),
    previousResponse: getString(body, "previous_response_id"),
    isStructured: FORMATS.some(([above, key]) => {
      const format = get(above === null ? body : getObject(body, above), key);
      return isObject(format) && format.type !== "text";
    }),
  };
}

/** Where each API has the shape of its answer. */
const FORMATS: readonly (readonly [string | null, string])[] = [
  [null, "response_format"],
  ["text", "format"],
  ["output_config", "format"],
  ["generationConfig", "responseSchema"],
  ["generationConfig", "responseJsonSchema"],
];

interface RequestWords {
  readonly system: readonly Part[];
  readonly messages: readonly Message[];
  /** Those that are among the messages. */
  readonly tools?: readonly unknown[];
}

const READERS: Readonly<Record<ProviderApi, (body: JsonObject) => RequestWords | null>> = {
  anthropic(body) {
    if (!Array.isArray(body.messages)) return null;
    const system = blockParts(get(body, "system"));
    return { system, messages: body.messages.map(anthropicMessage) };
  },
  "openai-chat"(body) {
    if (!Array.isArray(body.messages)) return null;
    return { system: [], messages: body.messages.map(chatMessage) };
  },
  "openai-responses"(body) {
    const { input, instructions } = body;
    const system = blockParts(instructions);
    if (typeof input === "string") {
      return { system, messages: [{ role: "user", parts: blockParts(input) }] };
    }
    if (input !== undefined && !Array.isArray(input)) return null;
    const items: readonly unknown[] = input ?? [];
    const tools = items.filter(isTools).flatMap((item) => getList(item, "tools"));
    const messages = items.filter((item) => !isTools(item)).map(responsesItem);
    return { system, messages, tools };
  },
  gemini(body) {
    const { contents, systemInstruction = body.system_instruction } = body;
    if (!Array.isArray(contents)) return null;
    const system = isObject(systemInstruction) ? googleParts(systemInstruction.parts) : [];
    return { system, messages: contents.map(googleMessage) };
  },
};

/** Text that a program changes with each request: Claude Code's checksum, and its reminders. */
export function isVolatile(text: string): boolean {
  return /^(?:x-anthropic-billing-header:|<system-reminder>)/.test(text);
}

/** Whether a part counts when two requests are compared. Programs leave thoughts out. */
export function isCounted(part: Part): boolean {
  return part.type === "text" ? !isVolatile(part.text) : part.type !== "reasoning";
}

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  model: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

/** Results of tools are said in the user's role by two of the APIs. */
function message(role: unknown, parts: readonly Part[]): Message {
  const named = (typeof role === "string" && Object.hasOwn(ROLES, role) && ROLES[role]) || "user";
  const isResults = parts.length > 0 && parts.every(({ type }) => type === "tool_result");
  return { role: named === "user" && isResults ? "tool" : named, parts };
}

function anthropicMessage(item: unknown): Message {
  if (!isObject(item)) return unreadMessage(item);
  return message(item.role, blockParts(item.content));
}

function chatMessage(item: unknown): Message {
  if (!isObject(item)) return unreadMessage(item);
  const { role } = message(item.role, []);
  const { parts = [] } = chatOf(item, role);
  return message(role, [...reasoningParts(item), ...parts]);
}

function reasoningParts(item: JsonObject): readonly Part[] {
  const text = getString(item, "reasoning_content") ?? getString(item, "reasoning");
  return text ? [{ type: "reasoning", text }] : [];
}

/** Codex has its tools there, from 0.169 on. */
function isTools(item: unknown): item is JsonObject {
  return isObject(item) && item.type === "additional_tools";
}

/** An item that is not understood is mostly one that the model made. */
function responsesItem(item: unknown): Message {
  if (!isObject(item)) return unreadMessage(item);
  const entry: Mutable<Entry> = emptyEntry(item);
  readItem(entry, item);
  if (entry.kind === "message" && entry.role !== null) return message(entry.role, entry.parts);
  const role = item.type === "configuration_update" ? "system" : "assistant";
  return { role, parts: [{ type: "other", native: item }] };
}

function googleMessage(content: unknown): Message {
  if (!isObject(content)) return unreadMessage(content);
  return message(content.role, googleParts(getObjects(content, "parts")));
}

function unreadMessage(native: unknown): Message {
  return { role: "user", parts: [{ type: "other", native: native ?? null }] };
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says that it is not understood.
  }
}
