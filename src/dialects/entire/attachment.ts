/**
 * Attachment: what Claude Code adds to a prompt: prompts typed while the agent was working, content
 * of files named with `@`, and the program's own additions.
 *
 * `rendered` is what the model received, if a row has it. Otherwise the attachment's own text
 * counts. An attachment with neither is empty here, and `asideOf` reports it.
 */

import type { Part, Role } from "../../core/model/entry.ts";
import { get, getString, has, isObject, type JsonObject } from "../shared/fields.ts";
import { partsOf } from "./blocks.ts";

export const ATTACHMENT_TYPE = "attachment";

/** The type of a prompt that was typed while the agent was working. */
const QUEUED = "queued_command";
const RENDERED_ROLES: readonly Role[] = ["user", "system"];
/** Lists of what the program offers: state of its own, repeated in each session. */
const LISTS: readonly unknown[] = ["agent_listing_delta", "deferred_tools_delta", "skill_listing"];
/** Modes of prompts typed by a person; other modes are the program's. */
const TYPED_MODES: readonly unknown[] = [undefined, "prompt"];

export interface AttachmentMessage {
  readonly role: Role;
  readonly parts: readonly Part[];
  /** A person typed it. */
  readonly isTyped: boolean;
}

/** The content of an attachment's row; null if it is not one, or has none. */
export function attachedIn(row: JsonObject): AttachmentMessage | null {
  if (get(row, "type") !== ATTACHMENT_TYPE) return null;
  const attachment = get(row, "attachment");
  if (!isObject(attachment) || LISTS.includes(get(attachment, "type"))) return null;
  const rendered = renderedParts(get(row, "rendered") ?? get(attachment, "rendered"));
  const isTyped = get(attachment, "type") === QUEUED && isByPerson(attachment);
  // The prompt as typed, without the program's wrapping.
  const own = ownParts(attachment);
  const parts = rendered.length > 0 && !(isTyped && own.length > 0) ? rendered : own;
  if (parts.length === 0) return null;
  const named = get(row, "renderedRole") ?? get(attachment, "renderedRole");
  const role = RENDERED_ROLES.find((each) => each === named) ?? "user";
  return { role: isTyped ? "user" : role, parts, isTyped };
}

/** A text, blocks, or messages that are nothing but their content. */
function renderedParts(rendered: unknown): Part[] {
  if (!Array.isArray(rendered)) return partsOf(rendered);
  return rendered.flatMap((each) => {
    const isMessage = isObject(each) && get(each, "type") === undefined && has(each, "content");
    return partsOf(isMessage ? get(each, "content") : [each]);
  });
}

/** Whether a person typed a queued prompt: peers and the program's own tasks use the queue too. */
function isByPerson(attachment: JsonObject): boolean {
  const origin = get(attachment, "origin");
  const kind = isObject(origin) ? get(origin, "kind") : undefined;
  if (get(attachment, "isMeta") === true || (kind !== undefined && kind !== "human")) return false;
  const prompt = get(attachment, "prompt");
  if (typeof prompt === "string" && isNotification(prompt)) return false;
  return TYPED_MODES.includes(get(attachment, "commandMode"));
}

/** Whether a text is the program's notification that one of its tasks has ended. */
export function isNotification(text: string): boolean {
  return text.startsWith("<task-notification>");
}

function ownParts(attachment: JsonObject): Part[] {
  const content = get(attachment, "content");
  switch (get(attachment, "type")) {
    case QUEUED:
      return partsOf(get(attachment, "prompt"));
    case "file":
      return isObject(content) ? fileParts(attachment, content) : [];
    case "nested_memory":
      return isObject(content) ? texts(attachment, getString(content, "content")) : [];
    case "edited_text_file":
      return texts(attachment, getString(attachment, "snippet"));
    case "hook_additional_context":
      return Array.isArray(content)
        ? content.flatMap((text) => (typeof text === "string" ? partsOf(text) : []))
        : partsOf(content);
    default:
      return [];
  }
}

function fileParts(attachment: JsonObject, content: JsonObject): Part[] {
  const file = get(content, "file");
  if (!isObject(file)) return [];
  const data = getString(file, "base64");
  if (get(content, "type") !== "image" || data === null) {
    return texts(attachment, getString(file, "content"));
  }
  const mediaType = getString(file, "type");
  return [...texts(attachment, ""), { type: "image", mediaType, data }];
}

/** The file's name and content. */
function texts(attachment: JsonObject, text: string | null): Part[] {
  if (text === null) return [];
  const name = getString(attachment, "filename") ?? getString(attachment, "path");
  const parts = [...(name === null ? [] : [`[Attached: ${name}]`]), ...(text === "" ? [] : [text])];
  return parts.length === 0 ? [] : [{ type: "text", text: parts.join("\n") }];
}
