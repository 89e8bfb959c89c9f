/** Attacks on the content: lines edited, deleted, inserted, appended, and stripped of proof. */

import { type AttackCase, changed } from "./case.ts";
import {
  bytesOf,
  forgedLine,
  INSIDE,
  isCheckpoint,
  type Kit,
  linesOf,
  SHAPE_NAMES,
  type ShapeName,
} from "./kit.ts";

/** The log with its lines changed. */
async function withLines(
  kit: Kit,
  shape: ShapeName,
  change: (lines: string[]) => readonly string[],
  isPinned = true,
) {
  const honest = await kit.honest(shape);
  return changed(honest, bytesOf(change(linesOf(honest.log))), isPinned);
}

const edited = (line: string) => line.replace("turn 2: done", "turn 2: DONE");

const inEveryShape: readonly AttackCase[] = SHAPE_NAMES.flatMap((shape): AttackCase[] => [
  {
    name: `${shape}-honest`,
    row: "control",
    attacks: "nothing",
    verdict: "verified",
    codes: [],
    freshness: "match",
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return changed(honest, honest.log);
    },
  },
  {
    name: `${shape}-modified-answer`,
    row: "threat: edit in the signed region",
    attacks: "an answer of the model, in the middle",
    verdict: "tampered",
    codes: ["HASH_MISMATCH", "SEGMENT_MISMATCH"],
    make: (kit) => withLines(kit, shape, (lines) => lines.map(edited), false),
  },
  {
    name: `${shape}-deleted-line`,
    row: "threat: delete in the signed region",
    attacks: "a refusal that was deleted",
    verdict: "tampered",
    codes: [],
    make: (kit) =>
      withLines(kit, shape, (lines) => lines.filter((line) => !line.includes("turn 2: done"))),
  },
  {
    name: `${shape}-inserted-line`,
    row: "threat: insert in the signed region",
    attacks: "an invented tool result",
    verdict: "tampered",
    codes: [],
    make: async (kit) => {
      const forged = forgedLine((await kit.honest(shape)).log);
      return withLines(kit, shape, ([first = "", ...rest]) => [first, forged, ...rest], false);
    },
  },
  {
    name: `${shape}-appended-line`,
    row: "threat: append after the last checkpoint",
    attacks: "a forged line at the end",
    verdict: "incomplete",
    codes: ["UNSIGNED_TAIL"],
    make: async (kit) => {
      const forged = forgedLine((await kit.honest(shape)).log);
      return withLines(kit, shape, (lines) => [...lines, forged]);
    },
  },
  {
    name: `${shape}-appended-line-lenient`,
    row: "threat: append after the last checkpoint",
    attacks: "the same, read leniently: the verdict stays, the exit code is 0",
    flags: { lenient: true },
    verdict: "incomplete",
    exit: 0,
    codes: ["UNSIGNED_TAIL"],
    make: async (kit) => {
      const forged = forgedLine((await kit.honest(shape)).log);
      return withLines(kit, shape, (lines) => [...lines, forged]);
    },
  },
  {
    name: `${shape}-torn-tail`,
    row: "U, threat: crash mid-line",
    attacks: "nothing: a crash cut the last line short",
    verdict: "incomplete",
    codes: ["TORN_TAIL"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return changed(honest, Buffer.concat([honest.log, Buffer.from('{"ts":"2026-0')]));
    },
  },
  {
    name: `${shape}-nul-tail`,
    row: "U, threat: crash mid-line",
    attacks: "nothing: a power cut left NULs",
    verdict: "incomplete",
    codes: ["NUL_TAIL"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return changed(honest, Buffer.concat([honest.log, Buffer.alloc(512)]));
    },
  },
]);

/** Shapes with checkpoints in the log, so that it can be stripped of them. */
const stripped: readonly AttackCase[] = INSIDE.flatMap((shape): AttackCase[] => {
  const strip = (lines: string[]) => lines.filter((line) => !isCheckpoint(line)).map(edited);
  const row = "A, threat: strip all signatures";
  const attacks = "every checkpoint removed, then edited";
  return [
    {
      name: `${shape}-stripped`,
      row,
      attacks,
      verdict: "unsigned",
      codes: ["UNSIGNED"],
      make: (kit) => withLines(kit, shape, strip, false),
    },
    {
      name: `${shape}-stripped-allowed`,
      row,
      attacks,
      flags: { allowUnsigned: true },
      verdict: "unsigned",
      exit: 0,
      codes: ["UNSIGNED"],
      make: (kit) => withLines(kit, shape, strip, false),
    },
    {
      name: `${shape}-stripped-pinned`,
      row,
      attacks,
      flags: { allowUnsigned: true, lenient: true },
      verdict: "rollback",
      codes: ["CHECKPOINTS_STRIPPED"],
      make: (kit) => withLines(kit, shape, strip),
    },
    {
      name: `${shape}-one-checkpoint-removed`,
      row,
      attacks: "the checkpoint in the middle removed",
      verdict: "tampered",
      codes: [],
      make: (kit) =>
        withLines(
          kit,
          shape,
          (lines) => {
            const at = lines.findLastIndex(isCheckpoint);
            const middle = lines.findLastIndex((line, n) => n < at && isCheckpoint(line));
            return lines.filter((_, n) => n !== middle);
          },
          false,
        ),
    },
    {
      name: `${shape}-emptied`,
      row: "A, threat: strip all signatures",
      attacks: "the file, emptied, while its head is pinned",
      verdict: "rollback",
      codes: ["CHECKPOINTS_STRIPPED"],
      make: async (kit) => changed(await kit.honest(shape), Buffer.alloc(0)),
    },
  ];
});

export const HISTORY_CASES: readonly AttackCase[] = [...inEveryShape, ...stripped];
