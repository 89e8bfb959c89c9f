/**
 * Holds: sessions that nothing may remove, neither by name nor by a rule, until they are released.
 * Format: docs/formats/trash.md, "Holds".
 *
 * A file of holds that cannot be understood is an error: with less, a session that is held would be
 * removed.
 */

import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { readUserFile } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import { isObject } from "../../trust/proof/claims.ts";

export interface Hold {
  readonly dialect: string;
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly reason: string;
}

const NAME = "holds.json";
const BYTES_MAX = 8 * 1024 * 1024;

export function holdsPath(): string {
  return join(userPaths().stateDirectory, NAME);
}

/** All holds. They name a session by layout and id, so that a copy or a moved store is held, too. */
export function readHolds(): readonly Hold[] {
  const path = holdsPath();
  const file = readUserFile(path, { access: "own", bytesMax: BYTES_MAX });
  if (file === null) return [];
  const holds = file.text === null ? null : holdsIn(file.text);
  if (holds) return holds;
  const reason = file.fault ?? "it is not a list of holds";
  const details = { setting: NAME, from: path, reason };
  throw new VerbatimError("BAD_SETTING", `${path} is refused: ${reason}`, details);
}

export function holdOn(session: { readonly dialect: string; readonly id: string }): Hold | null {
  return readHolds().find((hold) => isSame(hold, session)) ?? null;
}

/** Replaces a hold on the same session. */
export async function addHold(host: Host, hold: Hold): Promise<void> {
  await change(host, (holds) => [...holds.filter((each) => !isSame(each, hold)), hold]);
}

/** Returns whether there was one. */
export async function releaseHold(
  host: Host,
  session: { readonly dialect: string; readonly id: string },
): Promise<boolean> {
  let wasHeld = false;
  await change(host, (holds) => {
    const others = holds.filter((each) => !isSame(each, session));
    wasHeld = others.length < holds.length;
    return others;
  });
  return wasHeld;
}

async function change(host: Host, edit: (holds: readonly Hold[]) => readonly Hold[]) {
  await withLockedDirectory(host, dirname(holdsPath()), "holds", async (directory) => {
    const text = JSON.stringify({ verbatim: "holds", v: 1, holds: edit(readHolds()) });
    await replaceFileDurably(directory, NAME, `${text}\n`);
  });
}

function isSame(
  one: { readonly dialect: string; readonly id: string },
  other: { readonly dialect: string; readonly id: string },
): boolean {
  return one.dialect === other.dialect && one.id === other.id;
}

function holdsIn(text: string): readonly Hold[] | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value) || value.verbatim !== "holds" || value.v !== 1) return null;
  const { holds } = value;
  return Array.isArray(holds) && holds.every(isHold) ? holds : null;
}

function isHold(value: unknown): value is Hold {
  if (!isObject(value)) return false;
  const { dialect, id, at, by, reason } = value;
  return [dialect, id, at, by, reason].every((each) => typeof each === "string");
}
