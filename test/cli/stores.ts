/** Stores for the command line to read, written as files: good and bad ones of other programs. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CliUser } from "./cli.ts";

export const TS = "2026-02-09T04:03:50.365000+00:00";

/** A rye event as a flat line. */
export function event(type: string, data: Readonly<Record<string, unknown>> = {}): object {
  return { ts: TS, type, thread_id: "t", directive: "hello", ...data };
}

/** Writes a file and the directories above it. */
export function put(path: string, content: string | Buffer): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** A thread below a project: objects become lines, texts are written unchanged. */
export function putThread(
  project: string,
  id: string,
  lines: readonly (object | string)[] = [event("user_message", { text: `I am ${id}` })],
): string {
  return put(join(project, ".ai/threads", id, "transcript.jsonl"), logOf(lines));
}

/** A session of HomeAgent, in its default place unless another base is passed. */
export function putTurns(
  user: CliUser,
  id: string,
  lines: readonly (object | string)[] = [turn("user", { content: `I am ${id}` })],
  base = join(user.home, ".homeagent"),
): string {
  const [agent, session] = id.split("/");
  return put(join(base, `agents/${agent}/sessions/${session}.jsonl`), logOf(lines));
}

/** A HomeAgent turn record. */
export function turn(role: string, fields: Readonly<Record<string, unknown>> = {}): object {
  return { turnId: "1", role, ts: 1_770_609_830_365, ...fields };
}

function logOf(lines: readonly (object | string)[]): string {
  return lines
    .map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`)
    .join("");
}
