/** Doctor: what is wrong with the sessions of a history, and mending it. */

import { nodeSurroundings as surroundings } from "../core/base/node-surroundings.ts";
import { dialectNamed } from "../dialects/all.ts";
import { type ExaminedItem, examineOne, examineStore } from "../evidence/doctor/examine.ts";
import type { Doctor } from "../evidence/doctor/examine-session.ts";
import { type RepairStep, repairOne, repairStore } from "../evidence/doctor/repair.ts";
import type { FoundStore } from "../sessions/list/find-stores.ts";
import type { DoctorOptions } from "./options.ts";
import type { Places } from "./places.ts";

/** Something that is wrong, and what was done about it. */
export interface DoctorFinding {
  /** `left` and `failed` only with `fix`: it cannot be mended, or mending it failed. */
  readonly is: "found" | "mended" | "left" | "failed";
  /** A code of docs/doctor.md; of a failure, that of the error. */
  readonly code: string;
  readonly severity: "error" | "warning" | "note";
  /** Null: it is about the store. */
  readonly session: string | null;
  /** The file or directory. */
  readonly path: string;
  /** Counted from 1; null if it is not about one line. */
  readonly line: number | null;
  /** What is wrong, or what was done. */
  readonly detail: string;
  /** `fix` can mend it. */
  readonly mends: boolean;
}

export async function* examineSessions(
  places: Places,
  { session, fix = false, signal }: DoctorOptions,
): AsyncGenerator<DoctorFinding> {
  const { host } = places;
  const onProgress = () => signal?.throwIfAborted();
  const doctor: Doctor = { host, surroundings, nowMs: Date.now, onProgress };
  const steps =
    session === undefined
      ? ofStores(doctor, await places.stores(), fix)
      : ofSession(doctor, await places.find(session), fix);
  for await (const step of steps) {
    signal?.throwIfAborted();
    const found = findingOf(step);
    if (found) yield found;
  }
}

type Step = ExaminedItem | RepairStep;

function ofSession(doctor: Doctor, found: Parameters<typeof examineOne>[1], fix: boolean) {
  return fix ? repairOne(doctor, found, { isDryRun: false }) : examineOne(doctor, found);
}

async function* ofStores(
  doctor: Doctor,
  stores: readonly FoundStore[],
  fix: boolean,
): AsyncGenerator<Step> {
  for (const store of stores) {
    const { writing, program } = dialectNamed(store.dialect);
    if (fix && !writing) continue; // Only its program writes there.
    if (!writing && program === undefined) continue; // Streams: by their server's directory.
    yield* fix ? repairStore(doctor, store, { isDryRun: false }) : examineStore(doctor, store);
  }
}

function findingOf(step: Step): DoctorFinding | null {
  if (!("kind" in step)) return "finding" in step ? told("found", step.finding) : null;
  if (step.kind === "mended") return told("mended", step.finding, step.did);
  if (step.kind === "left") return told("left", step.finding);
  if (step.kind !== "failed") return null;
  const { session, path, code, message: detail } = step;
  return { is: "failed", code, severity: "error", session, path, line: null, detail, mends: false };
}

type ItemFinding = Extract<ExaminedItem, { readonly finding: unknown }>["finding"];

function told(is: DoctorFinding["is"], finding: ItemFinding, did?: string): DoctorFinding {
  const { code, severity, session, path, line = null, detail, mends } = finding;
  return { is, code, severity, session, path, line, detail: did ?? detail, mends };
}
