/**
 * Proxied programs: those that name their session in calls to models, by the id of their own file.
 * `verbatim proxy` records it as `<program>.<id>`, and lists show both as one session
 * (docs/formats/wire.md).
 */

import type { ProgramSession } from "./facets/naming.ts";

export interface ProxiedProgram {
  readonly header: string;
  /** Its dialect. */
  readonly program: string;
  /** Of the caller, where others send the same header. */
  readonly userAgent: RegExp;
  /** Its own file has the provider's ids of answers, by which usage counts each of them once. */
  readonly hasAnswerIds: boolean;
}

export const PROXIED_PROGRAMS: readonly ProxiedProgram[] = [
  {
    header: "x-claude-code-session-id",
    program: "claude-code",
    userAgent: /^/,
    hasAnswerIds: true,
  },
  { header: "thread-id", program: "codex", userAgent: /^codex/, hasAnswerIds: false },
  { header: "x-session-id", program: "opencode", userAgent: /^opencode/, hasAnswerIds: false },
  { header: "x-opencode-session", program: "opencode", userAgent: /^/, hasAnswerIds: false },
];

/** The session of a program that a recorded session's id names; null: it names none. */
export function proxiedSession(id: string): ProgramSession | null {
  const [dialect = "", ...name] = id.split(".");
  const program = proxiedProgram(dialect);
  if (program === undefined || name.length === 0) return null;
  return { dialect, name: name.join("."), hasOwnUsage: !program.hasAnswerIds };
}

/** The inverse. */
export function proxiedId(dialect: string, name: string): string | null {
  return proxiedProgram(dialect) === undefined ? null : `${dialect}.${name}`;
}

function proxiedProgram(name: string): ProxiedProgram | undefined {
  return PROXIED_PROGRAMS.find(({ program }) => program === name);
}
