/**
 * Cases for every place that shows a verdict: the corpus, and what only a whole store can contain
 * (spill files, sessions that a browser does not check whole, a crashed sidecar).
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import type { NewEntry } from "../../../src/core/model/entry.ts";
import { pinLine } from "../../../src/trust/heads/head-file.ts";
import { signTombstones } from "../../../src/trust/heads/tombstones.ts";
import { loadSigner, type Signer } from "../../../src/trust/keys/keys.ts";
import { type SessionLog, sidecarOf } from "../../../src/trust/session-log.ts";
import { SigningUser, said, turnOf } from "../../support/signing-user.ts";
import { type AttackCase, type Attacked, changed } from "./case.ts";
import { CASES } from "./corpus.ts";
import {
  bytesOf,
  type Honest,
  INSIDE,
  isCheckpoint,
  Kit,
  linesOf,
  SHAPE_NAMES,
  type ShapeName,
  WITH_SIDECAR,
} from "./kit.ts";

interface ShownCase extends Pick<AttackCase, "name" | "attacks" | "make"> {
  /** Leaves the thread.json out; otherwise a rye thread has the one of its writer. */
  readonly isWithoutMeta?: true;
  /** Who signed the tombstone that is next to the pin. */
  readonly buriedBy?: (kit: Kit) => Promise<Signer>;
}

/** A thread's own thread.json, by its path below the root; none in other dialects. */
function metaOf({ written: { target } }: Honest): Record<string, Uint8Array> {
  const path = join(dirname(target.logId), "thread.json");
  const at = join(target.root, path);
  return target.dialect === "rye" && existsSync(at) ? { [path]: readFileSync(at) } : {};
}

const metas: readonly ShownCase[] = (["rye-flat", "rye-payload"] as const).flatMap((shape) => [
  {
    name: `${shape}-thread-json-gone`,
    attacks: "the thread.json of a signed thread",
    isWithoutMeta: true,
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return changed(honest, honest.log);
    },
  },
  {
    name: `${shape}-thread-json-altered`,
    attacks: "one value in the thread.json of a signed thread",
    make: async (kit) => {
      const honest = await kit.honest(shape);
      const otherFiles: Record<string, Uint8Array> = {};
      for (const [path, bytes] of Object.entries(metaOf(honest))) {
        const text = Buffer.from(bytes).toString();
        otherFiles[path] = Buffer.from(text.replace(/"directive": ?"\w+"/, '"directive":"deploy"'));
        assert.ok(!Buffer.from(bytes).equals(otherFiles[path]), "the attack changes nothing");
      }
      assert.equal(Object.keys(otherFiles).length, 1);
      return { ...changed(honest, honest.log), otherFiles };
    },
  },
]);

/** What a power cut, or a person, leaves at the end of the sidecar file. */
const SIDECAR_ENDS: Readonly<Record<string, Uint8Array>> = {
  nuls: Buffer.alloc(512),
  "nuls-and-lf": Buffer.concat([Buffer.alloc(512), Buffer.from("\n")]),
  "torn-and-nuls": Buffer.concat([Buffer.from('{"timest'), Buffer.alloc(64)]),
  "blank-line": Buffer.from("\n"),
  "foreign-line": Buffer.from("{}\n"),
};

const sidecarEnds: readonly ShownCase[] = WITH_SIDECAR.flatMap((shape) =>
  Object.entries(SIDECAR_ENDS).map(([name, end]) => ({
    name: `${shape}-sidecar-end-${name}`,
    attacks: "the end of the sidecar file",
    make: async (kit: Kit) => {
      const honest = await kit.honest(shape);
      const sidecar = Buffer.concat([honest.sidecar, end]);
      return { ...changed(honest, honest.log), sidecar };
    },
  })),
);

const logEnds: readonly ShownCase[] = (["rye-flat", "entire", "homeagent"] as const).map(
  (shape) => ({
    name: `${shape}-nul-line`,
    attacks: "nothing: a power cut left NULs, and a writer continued after them",
    make: async (kit) => {
      const honest = await kit.honest(shape);
      const nuls = Buffer.concat([Buffer.alloc(64), Buffer.from("\n")]);
      return changed(honest, Buffer.concat([honest.log, nuls]));
    },
  }),
);

/** As if another program had written while the last checkpoint was signed. */
const displaced: readonly ShownCase[] = INSIDE.flatMap((shape) =>
  [true, false].map((isPinned) => ({
    name: `${shape}-displaced-${isPinned ? "pinned" : "unseen"}`,
    attacks: "a line put before the last checkpoint",
    isWithoutMeta: true,
    make: async (kit: Kit) => {
      const honest = await kit.honest(shape);
      const lines = linesOf(honest.log);
      const changedLines = lines.toSpliced(lines.findLastIndex(isCheckpoint), 0, '{"other":1}');
      return changed(honest, bytesOf(changedLines), isPinned);
    },
  })),
);

/** Longer than a row may be, so that it is spilled to a file. */
const SPILLED: NewEntry[] = [...turnOf("turn 1"), said(`spilled ${"x".repeat(11_000_000)}`)];

async function spilled(kit: Kit, change: (bytes: Buffer) => Buffer | null): Promise<Attacked> {
  const honest = await kit.honest("entire", { entries: SPILLED, id: "spilled-1739012630" });
  const below = dirname(honest.written.target.logId);
  const { root } = honest.written.target;
  const names = readdirSync(join(root, below)).filter((name) => name.endsWith(".spill"));
  assert.equal(names.length, 1);
  const otherFiles: Record<string, Uint8Array> = {};
  for (const name of names) {
    const bytes = change(readFileSync(join(root, below, name)));
    if (bytes) otherFiles[join(below, name)] = bytes;
  }
  return { ...changed(honest, honest.log), otherFiles };
}

const spills: readonly ShownCase[] = [
  {
    name: "entire-spill-honest",
    attacks: "nothing",
    make: (kit) => spilled(kit, (bytes) => bytes),
  },
  {
    name: "entire-spill-altered",
    attacks: "one byte of a spilled file",
    make: (kit) => spilled(kit, (bytes) => Buffer.from(bytes).fill("y", 500, 501)),
  },
  {
    name: "entire-spill-gone",
    attacks: "the spilled file",
    make: (kit) => spilled(kit, () => null),
  },
];

/** Longer than a browser checks by itself: it checks the end, and the change is at the start. */
const LONG_TURNS = 6;
const LONG: NewEntry[] = Array.from({ length: LONG_TURNS }, (_, n) => [
  { kind: "turn_start" } as const,
  said(`long turn ${n + 1}: ${"0123456789".repeat(200_000)}`),
]).flat();

function long(shape: ShapeName, name: string, change: (honest: Honest) => Attacked): ShownCase {
  return {
    name: `${shape}-long-${name}`,
    attacks: "the start of a session of 12 MB",
    make: async (kit) => change(await kit.honest(shape, { entries: LONG })),
  };
}

const longs: readonly ShownCase[] = (["rye-flat", "homeagent"] as const).flatMap((shape) => [
  long(shape, "honest", (honest) => changed(honest, honest.log)),
  long(shape, "tampered", (honest) => {
    const log = Buffer.from(honest.log);
    log.write("9", log.indexOf("0123456789"));
    return changed(honest, log);
  }),
]);

const buried: readonly ShownCase[] = SHAPE_NAMES.flatMap((shape) => {
  const make = async (kit: Kit) => {
    const honest = await kit.honest(shape);
    return { honest, log: null, pin: honest.pin };
  };
  const attacks = "nothing: its user deleted it, and signed that";
  const forged = "the session, with a tombstone that another key signed";
  const stranger = async () => loadSigner(nodeHost, new SigningUser().places);
  return [
    { name: `${shape}-buried`, attacks, make, buriedBy: (kit: Kit) => kit.signer() },
    { name: `${shape}-buried-by-another`, attacks: forged, make, buriedBy: stranger },
  ];
});

export const SHOWN_CASES: readonly ShownCase[] = [
  ...CASES,
  ...sidecarEnds,
  ...logEnds,
  ...displaced,
  ...metas,
  ...spills,
  ...longs,
  ...buried,
];

const BURIAL = { at: "2026-11-19T10:41:08.297Z", by: "ada@laptop", reason: "not needed" };

/** A case on the disk: a store with one session, and a user who has pins of it. */
export interface LaidOut {
  readonly name: string;
  readonly target: SessionLog & { readonly id: string };
  /** The user's places, for `process.env`. */
  readonly env: Readonly<Record<string, string>>;
}

/** Writes cases below a directory, each in its own root. */
export async function layOut(
  directory: string,
  isWanted: (one: ShownCase) => boolean,
): Promise<LaidOut[]> {
  const kit = new Kit();
  const laid: LaidOut[] = [];
  for (const { name, make, isWithoutMeta, buriedBy } of SHOWN_CASES.filter(isWanted)) {
    const { honest, log, sidecar, otherFiles = {}, pin } = await make(kit);
    const { dialect, id, logId } = honest.written.target;
    const root = join(directory, name);
    const state = join(directory, ".state", name);
    const meta = isWithoutMeta || log === null ? {} : metaOf(honest);
    const files = { [logId]: log, [sidecarOf(logId)]: sidecar, ...meta, ...otherFiles };
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      if (bytes) writeFileSync(join(root, path), bytes);
    }
    mkdirSync(join(state, "verbatim"), { recursive: true, mode: 0o700 });
    const pins = pin ? [{ ...pin, place: `${dialect}:${root}`, id }] : [];
    const tombstones = buriedBy ? await signTombstones(pins, BURIAL, await buriedBy(kit)) : [];
    const lines = pins.concat(tombstones).map(pinLine).join("");
    writeFileSync(join(state, "verbatim/heads.jsonl"), lines);
    const env = { XDG_CONFIG_HOME: join(kit.victim.home, "config"), XDG_STATE_HOME: state };
    laid.push({ name, target: { dialect, root, logId, id }, env });
  }
  return laid;
}
