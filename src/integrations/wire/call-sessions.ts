/**
 * Call sessions: where the entries of recorded calls go, and the program's own name of a session.
 */

import type { NewEntry } from "../../core/model/entry.ts";
import { PROXIED_PROGRAMS } from "../../dialects/proxied-programs.ts";
import type { Headers } from "./body.ts";
import type { Conversation } from "./conversations.ts";

const NAME = /^[\w-]{1,100}$/;

/** The id of the session that a call's headers name; "": none. */
export function groupOf(headers: Headers): string {
  for (const { header, program, userAgent } of PROXIED_PROGRAMS) {
    const name = headers[header] ?? "";
    if (NAME.test(name) && userAgent.test(headers["user-agent"] ?? "")) return `${program}.${name}`;
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
