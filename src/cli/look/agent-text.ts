/** Agent text: what a person reads about an agent program's sessions. */

import { surroundings } from "../../core/base/node-paths.ts";
import { type FoundAgent, lookedInFor, unreadDatabaseNote } from "../../sessions/list/agents.ts";
import { groupDigits } from "../../sessions/render/phrases.ts";

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
