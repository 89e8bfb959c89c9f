/**
 * Origin: the session that another one was copied from. A fork, and a session that was unpacked from
 * a bundle, begin with a block that names it (resume/continue.ts, resume/handoff/transcode.ts).
 */

import type { Part } from "../core/model/entry.ts";
import { dialectNamed, loadDialects } from "./all.ts";
import { READ_DIALECT_NAMES, registryEntry } from "./registry.ts";

export interface MessageOrigin {
  readonly dialect: string;
  readonly id: string;
  /** Its usage is counted by the ids of messages alone. */
  readonly isById: boolean;
}

/** What the parts of an entry say; null: nothing. */
export function originIn(parts: readonly Part[]): MessageOrigin | null {
  for (const part of parts) {
    if (part.type !== "other") continue;
    const said = part.native as Readonly<Record<string, unknown>> | null;
    const isCopy = said?.type === "handoff_report" || (said?.type === "resume_report" && said.fork);
    const of = READ_DIALECT_NAMES.find((name) => name === said?.dialect);
    if (!isCopy || of === undefined || typeof said?.session !== "string") continue;
    const isById = registryEntry(of).usageIn === "messages";
    return { dialect: of, id: said.session, isById };
  }
  return null;
}

/** As its program calls it. */
export async function originName({ dialect, id }: MessageOrigin): Promise<string> {
  await loadDialects([dialect]);
  return dialectNamed(dialect).naming.nameOf?.(id) ?? id;
}

/** Whose rows a rollout may begin with, and when it began. */
export function threadIn(about: Readonly<Record<string, unknown>> | null): {
  replays: string | null;
  startedAt: number | null;
} {
  const meta = about?.payload as Readonly<Record<string, unknown>> | undefined;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const source = meta?.source as { subagent?: { thread_spawn?: Record<string, unknown> } } | null;
  const spawned = source?.subagent?.thread_spawn?.parent_thread_id;
  const started = Date.parse(text(meta?.timestamp) ?? "");
  return {
    replays: text(meta?.forked_from_id) ?? text(meta?.parent_thread_id) ?? text(spawned),
    startedAt: Number.isNaN(started) ? null : started,
  };
}
