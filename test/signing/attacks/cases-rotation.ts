/**
 * Attacks on `rotate` and `link` checkpoints: forged, moved, doubled, by keys that are not valid.
 */

import type { FindingCode, Verdict } from "../../../src/trust/proof/verdict.ts";
import { type AttackCase, type Attacked, changed, withLast } from "./case.ts";
import {
  bytesOf,
  editLast,
  type Honest,
  hasSidecarFile,
  idNamed,
  type Kit,
  linesOf,
  PLAIN_SHAPES,
  resign,
  type ShapeName,
} from "./kit.ts";

/** The file that has the checkpoints. */
function signedLines({ log, sidecar }: Honest): string[] {
  return linesOf(sidecar.length > 0 ? sidecar : log);
}

function withLines(honest: Honest, lines: readonly string[], isPinned = false): Attacked {
  const bytes = bytesOf(lines);
  if (honest.sidecar.length === 0) return changed(honest, bytes, isPinned);
  return { ...changed(honest, honest.log, isPinned), sidecar: bytes };
}

const isRotate = (line: string) => line.includes('"kind":"rotate"');
const isLink = (line: string) => line.includes('"kind":"link"');

/** Up to the line of that kind, which is then the last. */
function upTo(honest: Honest, is: (line: string) => boolean): Honest {
  const lines = signedLines(honest);
  const at = lines.findIndex(is);
  const until = bytesOf(lines.slice(0, at + 1));
  if (honest.sidecar.length === 0) return { ...honest, log: until };
  const { payload } = JSON.parse(lines[at] ?? "") as { payload: { byte_offset: number } };
  return { ...honest, log: honest.log.subarray(0, payload.byte_offset), sidecar: until };
}

interface Attack {
  readonly name: string;
  readonly attacks: string;
  readonly verdict: Verdict;
  readonly codes: readonly FindingCode[];
  make(kit: Kit, shape: ShapeName): Promise<Attacked>;
}

const ROTATED: readonly Attack[] = [
  {
    name: "rotated-honest",
    attacks: "nothing: a trusted key names the next one",
    verdict: "verified",
    codes: [],
    async make(kit, shape) {
      const { honest } = await kit.rotated(shape, "trusted");
      return changed(honest, honest.log, false);
    },
  },
  {
    name: "rotate-forged",
    attacks: "a `rotate` that names the attacker's key, signed by the attacker",
    verdict: "tampered",
    codes: ["SIGNATURE_FALSE"],
    async make(kit, shape) {
      const { honest } = await kit.rotated(shape, "trusted");
      const { kid, sign } = await kit.signerOf("unknown");
      const rename = (before: string) => before.replace(/"next":"[0-9a-f]{64}"/, `"next":"${kid}"`);
      const cut = upTo(honest, isRotate);
      const forged = await resign(signedLines(cut).at(-1) ?? "", rename, sign);
      return withLast(cut, () => forged);
    },
  },
  ...(["unknown", "revoked", "expired"] as const).map(
    (state): Attack => ({
      name: `rotated-by-${state}`,
      attacks: "a session whose first key is not accepted, and names the next one",
      verdict: "untrusted",
      codes: ["KEY_UNKNOWN"],
      async make(kit, shape) {
        const { honest } = await kit.rotated(shape, state);
        return changed(honest, honest.log, false);
      },
    }),
  ),
  {
    name: "rotate-names-another",
    attacks: "the checkpoint after a `rotate`, by another key than it names",
    verdict: "untrusted",
    codes: ["KEY_UNKNOWN"],
    async make(kit, shape) {
      const { honest } = await kit.rotated(shape, "trusted");
      const { kid, fp, sign } = await kit.signerOf("unknown");
      const rename = (before: string) =>
        before
          .replace(/"kid":"[0-9a-f]{64}"/, `"kid":"${kid}"`)
          .replace(/"fp":"[0-9a-f]{16}"/, `"fp":"${fp}"`);
      const lines = signedLines(honest);
      const forged = await resign(lines.at(-1) ?? "", rename, sign);
      return withLines(honest, [...lines.slice(0, -1), forged]);
    },
  },
  {
    name: "rotate-of-another-session",
    attacks: "the `rotate` of another session at the end of this one",
    verdict: "tampered",
    codes: ["HASH_MISMATCH"],
    async make(kit, shape) {
      const other = await kit.rotated(shape, "trusted", idNamed(shape, "morning"));
      const honest = await kit.honest(shape, { turns: 9 }); // Longer than the other.
      const rotate = signedLines(other.honest).find(isRotate) ?? "";
      return withLines(honest, [...signedLines(honest), rotate]);
    },
  },
  {
    name: "rotate-twice",
    attacks: "a `rotate`, repeated",
    verdict: "tampered",
    codes: ["CHAIN_BROKEN"],
    async make(kit, shape) {
      const cut = upTo((await kit.rotated(shape, "trusted")).honest, isRotate);
      const lines = signedLines(cut);
      return withLines(cut, [...lines, lines.at(-1) ?? ""]);
    },
  },
  {
    name: "link-to-another",
    attacks: "the session that a `link` names",
    verdict: "tampered",
    codes: ["SIGNATURE_FALSE"],
    async make(kit, shape) {
      const honest = await kit.linked(shape);
      const edit = (line: string) => line.replace(/"to":\{"id":"[^"]*"/, '"to":{"id":"evil"');
      if (honest.sidecar.length === 0) return changed(honest, editLast(honest.log, edit), false);
      return { ...changed(honest, honest.log, false), sidecar: editLast(honest.sidecar, edit) };
    },
  },
  {
    name: "link-removed",
    attacks: "a `link` at the end, removed",
    verdict: "rollback",
    codes: ["BEHIND"],
    async make(kit, shape) {
      const honest = await kit.linked(shape);
      return withLines(honest, signedLines(honest).slice(0, -1), true);
    },
  },
  {
    name: "link-removed-within",
    attacks: "a `link`, removed from between checkpoints",
    verdict: "tampered",
    codes: ["CHAIN_BROKEN"],
    async make(kit, shape) {
      const honest = await kit.linked(shape, true);
      const lines = signedLines(honest);
      return withLines(
        honest,
        lines.filter((line) => !isLink(line)),
      );
    },
  },
];

const MOVED = new Set(["rotate-of-another-session", "rotate-twice", "link-removed-within"]);

export const ROTATION_CASES: readonly AttackCase[] = PLAIN_SHAPES.flatMap((shape) =>
  ROTATED.map(
    ({ name, make, ...rest }): AttackCase => ({
      ...rest,
      // A moved line in a log is reported first for its wrong place.
      codes: hasSidecarFile(shape) || !MOVED.has(name) ? rest.codes : ["CHECKPOINT_MISPLACED"],
      name: `${shape}-${name}`,
      row: "rotate, link",
      make: (kit) => make(kit, shape),
    }),
  ),
);
