/**
 * Corpus: the attack cases as files and one table, for other verifiers of such files.
 *
 *     <directory>/table.json          the cases, the keys, and what each is trusted for
 *     <directory>/<case>/…            a store with one session, as the attacker left it
 *
 * Written again each time: keys and sessions belong to a victim created for it.
 * `VERBATIM_CORPUS=<directory> npx vitest run test/signing/attacks/table.test.ts` writes one there.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Pin } from "../../../src/trust/proof/pin.ts";
import type { Freshness } from "../../../src/trust/proof/pins.ts";
import type { FindingCode, Verdict } from "../../../src/trust/proof/verdict.ts";
import { type SessionLog, sidecarOf } from "../../../src/trust/session-log.ts";
import { Trust } from "../../../src/trust/trusted-keys/trust.ts";
import { type AttackCase, EXITS, type Flags } from "./case.ts";
import { DOWNGRADE_CASES } from "./cases-downgrade.ts";
import { FRAMING_CASES } from "./cases-framing.ts";
import { HISTORY_CASES } from "./cases-history.ts";
import { ROLLBACK_CASES } from "./cases-rollback.ts";
import { ROTATION_CASES } from "./cases-rotation.ts";
import { SIGNATURE_CASES } from "./cases-signatures.ts";
import { Kit } from "./kit.ts";

export const CASES: readonly AttackCase[] = [
  ...HISTORY_CASES,
  ...FRAMING_CASES,
  ...SIGNATURE_CASES,
  ...DOWNGRADE_CASES,
  ...ROLLBACK_CASES,
  ...ROTATION_CASES,
];

/** A case as it is in the table. */
export interface Row {
  readonly name: string;
  readonly row: string;
  readonly attacks: string;
  readonly dialect: SessionLog["dialect"];
  readonly session: string;
  /** Below the case's directory; it may be missing. */
  readonly log: string;
  /** The pinned head of this session, by its place; null for none. */
  readonly pin: Pin | null;
  readonly flags: Flags;
  readonly expect: {
    readonly verdict: Verdict;
    readonly exit: number;
    readonly codes: readonly FindingCode[];
    readonly freshness: Freshness | null;
  };
}

export interface Table {
  readonly schema: "verbatim.attacks/1";
  readonly keys: readonly object[];
  readonly cases: readonly Row[];
}

/** Writes the corpus; returns its table, and the user who owns the files. */
export async function writeCorpus(
  directory: string,
  isWanted: (one: AttackCase) => boolean = () => true,
): Promise<{ table: Table; kit: Kit }> {
  const kit = new Kit();
  const cases: Row[] = [];
  for (const one of CASES.filter(isWanted)) cases.push(await writeCase(kit, directory, one));
  const { keys } = await Trust.load(kit.victim.places);
  const table: Table = {
    schema: "verbatim.attacks/1",
    keys: keys.map(({ kid, fp, publicKey, isOwn, scope, entry }) => ({
      kid,
      fp,
      publicKey: Buffer.from(publicKey).toString("base64url"),
      own: isOwn,
      purposes: scope.purposes,
      sessions: scope.sessions,
      validAfter: scope.validAfter,
      validBefore: scope.validBefore,
      revokedAt: entry?.revokedAt,
    })),
    cases,
  };
  writeFileSync(join(directory, "table.json"), `${JSON.stringify(table, null, 2)}\n`);
  return { table, kit };
}

async function writeCase(kit: Kit, directory: string, one: AttackCase): Promise<Row> {
  const { honest, log, sidecar, otherFiles = {}, pin } = await one.make(kit);
  const { dialect, id, logId } = honest.written.target;
  const files: [string, Uint8Array | null | undefined][] = [
    [logId, log],
    [sidecarOf(logId), sidecar],
    ...Object.entries(otherFiles),
  ];
  for (const [path, bytes] of files) {
    const at = join(directory, one.name, path);
    mkdirSync(dirname(at), { recursive: true });
    if (bytes) writeFileSync(at, bytes);
  }
  const { name, row, attacks, flags = {}, verdict, exit = EXITS[verdict], codes } = one;
  const expect = { verdict, exit, codes, freshness: one.freshness ?? null };
  return { name, row, attacks, dialect, session: id, log: logId, pin, flags, expect };
}
