/**
 * Call sessions: where the entries of recorded calls go, and the program's own name of a session.
 */

import type { NewEntry } from "../../core/model/entry.ts";
import type { Headers } from "./body.ts";
import type { Conversation } from "./conversations.ts";

/** Programs whose header names the session, as the file of the program does. */
const GROUPS: readonly (readonly [header: string, program: string, agent: RegExp])[] = [
  ["x-claude-code-session-id", "claude-code", /^/],
  ["thread-id", "codex", /^codex/],
];
const NAME = /^[\w-]{1,100}$/;

/** The id of the session that a call's headers name; "": none. */
export function groupOf(headers: Headers): string {
  for (const [header, program, agent] of GROUPS) {
    const name = headers[header] ?? "";
    if (NAME.test(name) && agent.test(headers["user-agent"] ?? "")) return `${program}.${name}`;
  }
  return "";
}

/** Where entries of a conversation go. */
export interface CallSessions {
  /** Before a request is placed: adds what earlier runs recorded. */
  restore(group: string, isContinued: boolean): Promise<void>;
  append(conversation: Conversation, entries: readonly NewEntry[], agent: string): Promise<void>;
  close(): Promise<void>;
}
