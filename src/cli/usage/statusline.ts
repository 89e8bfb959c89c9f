/**
 * Status line: one line for Claude Code's status line: the cost of the session and of today, the
 * time that is left of the block, and how fast money is spent.
 *
 * Claude Code asks every few seconds. So only its session is looked at, unless all sessions were
 * looked at more than a minute ago.
 */

import { statSync } from "node:fs";
import { nodeHost } from "../../base/node-host.ts";
import type { Io } from "../../command/command.ts";
import { lastLook } from "../../usage/ledger/ledger-file.ts";
import { openUsage, usageDirectory } from "../../usage/open-usage.ts";
import { hasBlocks } from "../../usage/report/agent-choice.ts";
import { blocksOf } from "../../usage/report/blocks.ts";
import type { CountedUsage } from "../../usage/report/counted-usage.ts";
import { Days } from "../../usage/report/days.ts";
import { sumOf } from "../../usage/report/groups.ts";
import { dollars } from "./usage-numbers.ts";
import { costText } from "./usage-text.ts";

const LOOK_MS = 60_000;
const INPUT_BYTES_MAX = 1024 * 1024;
const DAY_MS = 86_400_000;

interface Given {
  readonly session: string | null;
  readonly transcript: string | null;
}

/** Never fails: a status line with an error in it would be shown all the time. */
export async function printStatusLine(io: Io): Promise<number> {
  const { session, transcript } = givenIn(await readInput(io));
  const nowMs = Date.now();
  const isRecent = nowMs - lastLook(usageDirectory()) < LOOK_MS;
  const { usage } = await openUsage(nodeHost, {
    ...{ cwd: process.cwd(), nowMs, onFailure: () => {} },
    ...(isRecent && transcript !== null && isFile(transcript) ? { only: transcript } : {}),
  });
  io.out(statusText(usage, session, nowMs));
  return 0;
}

export function statusText(usage: CountedUsage, session: string | null, nowMs: number): string {
  const days = new Days();
  const today = days.dayOf(nowMs);
  const parts: string[] = [];
  if (session !== null) {
    const isWanted = (file: Parameters<CountedUsage["sessionOf"]>[0]) => {
      return usage.sessionOf(file) === session;
    };
    parts.push(`${costText(sumOf(usage, usage.chosen(days, { isWanted })))} session`);
  }
  const day = usage.chosen(days, { since: today, until: today });
  parts.push(`${costText(sumOf(usage, day))} today`);
  const since = days.dayOf(nowMs - DAY_MS);
  const blocks = blocksOf(usage, usage.chosen(days, { since, isWanted: hasBlocks }), nowMs);
  const active = blocks.find(({ isActive }) => isActive);
  if (active) {
    const minutes = Math.ceil((active.end - nowMs) / 60_000);
    parts.push(`${Math.floor(minutes / 60)}h ${minutes % 60}m left`);
    if (active.costPerHour !== null) parts.push(`${dollars(active.costPerHour)}/h`);
  }
  return parts.join(" · ");
}

async function readInput(io: Io): Promise<string> {
  if (io.input.isTTY) return "";
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of io.input) {
    pieces.push(Buffer.from(piece as Uint8Array));
    length += pieces.at(-1)?.length ?? 0;
    if (length > INPUT_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString();
}

function givenIn(text: string): Given {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const { session_id, transcript_path } = (value ?? {}) as Record<string, unknown>;
  const textOf = (each: unknown) => (typeof each === "string" && each !== "" ? each : null);
  return { session: textOf(session_id), transcript: textOf(transcript_path) };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
