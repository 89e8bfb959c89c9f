/** Real sessions, written by the store, and the findings of doctor and repair on them. */

import { nodeHost } from "../../src/core/base/node-host.ts";
import { nodeSurroundings } from "../../src/core/base/node-surroundings.ts";
import type { Finding } from "../../src/core/findings/finding.ts";
import type { Native } from "../../src/core/model/entry.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import { examineOne, examineStore } from "../../src/evidence/doctor/examine.ts";
import type { Doctor } from "../../src/evidence/doctor/examine-session.ts";
import { type RepairStep, repairOne, repairStore } from "../../src/evidence/doctor/repair.ts";
import { findSession } from "../../src/sessions/list/find-session.ts";
import type { FoundSession } from "../../src/sessions/list/session-place.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";

/** On the real disk, with a clock that does not make a test wait. */
export const nodeDoctor: Doctor = {
  host: { ...nodeHost, clock: { ...nodeHost.clock, sleep: async () => {} } },
  surroundings: nodeSurroundings,
  nowMs: Date.now,
};

export async function findingsIn(
  root: string,
  dialect: DialectName = "rye",
  doctor: Doctor = nodeDoctor,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const step of examineStore(doctor, { dialect, root })) {
    if ("finding" in step) findings.push(step.finding);
  }
  return findings;
}

export async function findingsOf(
  session: FoundSession,
  doctor: Doctor = nodeDoctor,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const step of examineOne(doctor, session)) {
    if ("finding" in step) findings.push(step.finding);
  }
  return findings;
}

export async function repairIn(
  root: string,
  dialect: DialectName = "rye",
  isDryRun = false,
  doctor: Doctor = nodeDoctor,
): Promise<RepairStep[]> {
  return stepsOf(repairStore(doctor, { dialect, root }, { isDryRun }));
}

export async function repairOf(
  session: FoundSession,
  doctor: Doctor = nodeDoctor,
): Promise<RepairStep[]> {
  return stepsOf(repairOne(doctor, session, { isDryRun: false }));
}

async function stepsOf(steps: AsyncIterable<RepairStep>): Promise<RepairStep[]> {
  const all: RepairStep[] = [];
  for await (const step of steps) if (step.kind !== "session") all.push(step);
  return all;
}

export function sessionAt(root: string, id: string, dialect: DialectName = "rye") {
  return findSession(nodeHost, id, { cwd: root, root, dialect });
}

/** `CODE detail`, one per finding. */
export function summaries(findings: readonly Finding[]): string[] {
  return findings.map(({ code, detail }) => `${code} ${detail}`);
}

export function codes(findings: readonly Finding[]): string[] {
  return findings.map(({ code }) => code);
}

/** A thread with these events, written and closed by the store itself. Returns its log's path. */
export async function writeThread(
  project: string,
  id: string,
  events: readonly Native[],
  options: Partial<StoreOptions> = {},
): Promise<string> {
  const store = new Store(nodeHost, { dialect: "rye", root: project, agent: "hello", ...options });
  const session = store.session(id);
  for (const event of events) await session.appendNative(event);
  await store.close();
  return session.path;
}

/** The events of a small thread without faults. */
export const WHOLE_THREAD: readonly Native[] = [
  { type: "thread_start", inputs: { a: 1 }, model: "m", provider: "p" },
  { type: "user_message", text: "Write é.", role: "user" },
  { type: "tool_call_start", tool: "write", call_id: "c1", input: { path: "out" } },
  { type: "tool_call_result", call_id: "c1", output: "done", duration_ms: 1 },
  { type: "thread_complete", cost: { turns: 1, tokens: 3, spend: 0.5 } },
];
