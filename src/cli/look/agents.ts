/** `verbatim agents`: the agent programs found, and what they are about to delete. */

import { surroundings } from "../../core/base/node-paths.ts";
import { type FoundAgent, lookedInFor, unreadDatabaseNote } from "../../sessions/list/agents.ts";
import { groupDigits } from "../../sessions/render/phrases.ts";
import type { Io, Run } from "../command/command.ts";
import { jsonLine } from "../command/output.ts";

export async function runAgents({ options, io }: Run): Promise<number> {
  const { findAgents } = await import("../../sessions/list/agents.ts");
  const nowMs = Date.now();
  const found = await findAgents(process.cwd(), nowMs);
  if (found.length === 0) {
    io.err(`no agent's sessions were found; ${lookedInText()}`);
    return 0;
  }
  for (const agent of found) {
    if (options.json) await io.print(jsonLine(jsonOf(agent)));
    else await print(agent, nowMs, io);
  }
  const due = found.reduce((sum, { retention }) => sum + (retention?.due ?? 0), 0);
  if (!options.json && due > 0) io.err("`verbatim guard` keeps a copy of every session for good");
  return 0;
}

function jsonOf({ firstMs, lastMs, retention, isGuarded: _, ...agent }: FoundAgent): object {
  return {
    ...agent,
    firstUse: isoOf(firstMs),
    lastUse: isoOf(lastMs),
    retentionDays: retention?.days ?? null,
    retentionSetting: retention?.setting ?? null,
    due: retention?.due ?? 0,
    dueBytes: retention?.dueBytes ?? 0,
  };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function print(agent: FoundAgent, nowMs: number, io: Io): Promise<void> {
  const { safeText } = await import("../../sessions/render/text.ts");
  await io.print(`${safeText(agentLines(agent, nowMs).join("\n"))}\n`);
}

export function agentLines(agent: FoundAgent, nowMs: number): string[] {
  const { label, root, sessions, bytes, rows, firstMs, lastMs, unreadable } = agent;
  const notes = agent.unreadDatabases.map((path) => unreadDatabaseNote(label, shortPath(path)));
  const sizes = [
    ...(bytes > 0 || rows === 0 ? [bytesText(bytes)] : []),
    ...(rows > 0 ? [rows === 1 ? "1 row" : `${groupDigits(rows)} rows`] : []),
  ];
  const used = firstMs === null ? "" : `, ${dayOf(firstMs)} to ${lastDay(lastMs ?? 0, nowMs)}`;
  return [
    `${label}  ${shortPath(root)}`,
    `  ${[sessionsText(sessions), ...sizes].join(", ")}${used}`,
    `  ${retentionText(agent)}`,
    ...(unreadable > 0 ? [`  ${unreadable} places there could not be read`] : []),
    ...notes.map((note) => `  ${note}`),
  ];
}

/** What the program will delete, and by which setting. */
export function retentionText({ label, retention, isGuarded }: FoundAgent): string {
  if (isGuarded) return `kept by the guard, and never deleted: ${label} no longer has them`;
  if (retention === null) return "deletes no session by its age";
  const { due, setting } = retention;
  const days = `${Math.round(retention.days * 10) / 10} days`;
  const rule = `(${shortPath(setting)})`;
  if (due === 0) return `deletes sessions older than ${days}; none is due ${rule}`;
  const them = due === 1 ? "it" : "them";
  return `${sessionsText(due)} older than ${days}: ${label} removes ${them} at its next start ${rule}`;
}

/** Where agents' sessions are looked for. */
export function lookedInText(): string {
  const places = lookedInFor().map(({ label, roots }) => `  ${label}: ${roots.join(", ")}`);
  return `looked in\n${places.join("\n")}`;
}

export function sessionsText(count: number): string {
  return count === 1 ? "1 session" : `${groupDigits(count)} sessions`;
}

/** With `~` for the user's home. */
export function shortPath(text: string): string {
  const { home } = surroundings();
  return `${text}/`.replaceAll(`${home}/`, "~/").slice(0, -1);
}

function bytesText(bytes: number): string {
  for (const [unit, size] of [
    ["GB", 1e9],
    ["MB", 1e6],
    ["KB", 1e3],
  ] as const) {
    if (bytes >= size) return `${(bytes / size).toFixed(bytes >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return `${bytes} bytes`;
}

function lastDay(ms: number, nowMs: number): string {
  return dayOf(ms) === dayOf(nowMs) ? "today" : dayOf(ms);
}

/** In the user's time zone. */
function dayOf(ms: number): string {
  const date = new Date(ms);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((n) => `${n}`.padStart(2, "0"));
  return `${date.getFullYear()}-${month}-${day}`;
}
