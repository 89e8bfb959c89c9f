/** Attacks on what was said: edits, strips, and bytes on which readers disagree. */

import { type AttackCase, changed } from "./case.ts";
import {
  bytesOf,
  checkpointEnds,
  editLast,
  forgedLine,
  isCheckpoint,
  type Kit,
  linesOf,
  type ShapeName,
} from "./kit.ts";

const SHAPES: readonly ShapeName[] = ["rye-flat", "rye-payload", "entire", "homeagent"];

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

const inEveryShape: readonly AttackCase[] = SHAPES.flatMap((shape): AttackCase[] => [
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
    attacks: "an answer of the model, in the midst",
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
    attacks: "a tool's result that nobody gave",
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
    attacks: "the same, read leniently: the word stays, the exit code is 0",
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

/** Where the checkpoints stand in the log, so that it can be stripped of them. */
const stripped: readonly AttackCase[] = (["rye-flat", "rye-payload", "entire"] as const).flatMap(
  (shape): AttackCase[] => {
    const strip = (lines: string[]) => lines.filter((line) => !isCheckpoint(line)).map(edited);
    const row = "A, threat: strip all signatures";
    const attacks = "every checkpoint removed, then edited";
    return [
      {
        ...{ name: `${shape}-stripped`, row, attacks },
        verdict: "unsigned",
        codes: ["UNSIGNED"],
        make: (kit) => withLines(kit, shape, strip, false),
      },
      {
        ...{ name: `${shape}-stripped-allowed`, row, attacks },
        flags: { allowUnsigned: true },
        verdict: "unsigned",
        exit: 0,
        codes: ["UNSIGNED"],
        make: (kit) => withLines(kit, shape, strip, false),
      },
      {
        ...{ name: `${shape}-stripped-pinned`, row, attacks },
        flags: { allowUnsigned: true, lenient: true },
        verdict: "rollback",
        codes: ["BEHIND"],
        make: (kit) => withLines(kit, shape, strip),
      },
      {
        ...{ name: `${shape}-one-checkpoint-removed`, row },
        attacks: "the checkpoint in the midst removed",
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
        attacks: "the file, emptied, while its head is remembered",
        verdict: "rollback",
        codes: ["BEHIND"],
        make: async (kit) => changed(await kit.honest(shape), Buffer.alloc(0)),
      },
    ];
  },
);

/** What is put between the last checkpoint and its LF, or after it, to be read as another line. */
const SMUGGLED: readonly (readonly [string, (forged: string) => string, boolean])[] = [
  ["cr-before-tail", (forged) => `\r${forged}\n`, true],
  ["cr-in-tail", (forged) => `${forged}\r${forged}\n`, true],
  ["cr-at-line-end", (forged) => `${forged}\r\n`, true],
  ["vertical-tab-in-tail", (forged) => `${forged}\v${forged}\n`, true],
  ["file-separator-in-tail", (forged) => `${forged}\x1c${forged}\n`, true],
  ["tab-in-tail", (forged) => `\t${forged}\n`, true],
  ["not-utf8-in-tail", (forged) => `${forged.replace("approved", "\udfff")}\n`, true],
  ["line-separator-in-tail", (forged) => `${forged}\u2028${forged}\n`, false],
  ["next-line-in-tail", (forged) => `${forged}\u0085${forged}\n`, false],
  ["array-in-tail", () => "[]\n", false],
  ["deep-nesting-in-tail", () => `${"[".repeat(100_000)}\n`, false],
];

const framing: readonly AttackCase[] = [
  ...SMUGGLED.map(
    ([name, smuggle, isTampered]): AttackCase => ({
      name: `rye-flat-${name}`,
      row: "B, T, threat: CR / U+2028 / BOM / CRLF games",
      attacks: "readers that split lines otherwise than at LF, or stumble",
      verdict: isTampered ? "tampered" : "incomplete",
      codes: isTampered ? [] : ["UNSIGNED_TAIL"],
      make: async (kit) => {
        const honest = await kit.honest("rye-flat");
        const text = smuggle(forgedLine(honest.log));
        // A lone surrogate stands for a byte that is in no UTF-8.
        const bytes = Buffer.from(text.replace("\udfff", "\0"), "utf8");
        if (text.includes("\udfff")) bytes[bytes.indexOf(0)] = 0xff;
        return changed(honest, Buffer.concat([honest.log, bytes]));
      },
    }),
  ),
  {
    name: "rye-flat-cr-after-last-checkpoint",
    row: "B",
    attacks: "the last checkpoint's line, continued after a CR",
    verdict: "tampered",
    codes: ["TAIL_CONTROL_BYTE"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const forged = forgedLine(honest.log);
      return changed(
        honest,
        editLast(honest.log, (line) => `${line}\r${forged}`),
        false,
      );
    },
  },
  {
    name: "rye-flat-bom",
    row: "B",
    attacks: "a byte order mark before the first line",
    verdict: "tampered",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      return changed(honest, Buffer.concat([Buffer.from("\ufeff"), honest.log]), false);
    },
  },
  {
    name: "rye-flat-crlf",
    row: "B",
    attacks: "every LF made CRLF, as a mail or a git may do",
    verdict: "tampered",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const text = honest.log.toString("utf8").replaceAll("\n", "\r\n");
      return changed(honest, Buffer.from(text), false);
    },
  },
  {
    name: "rye-flat-checkpoint-quoted",
    row: "AE",
    attacks: "nothing: a message that quotes a whole checkpoint line is a message",
    verdict: "verified",
    codes: [],
    make: async (kit) => {
      const { log } = await kit.honest("rye-flat");
      const quoted = linesOf(log).find(isCheckpoint) ?? "";
      const text = `rye:signed: "type":"checkpoint" ${quoted}`;
      const parts = [{ type: "text", text }] as const;
      const entries = [{ kind: "message", role: "user", parts } as const];
      const honest = await kit.honest("rye-flat", { entries, id: "quoting-1" });
      return changed(honest, honest.log);
    },
  },
  {
    name: "rye-flat-forged-markdown",
    row: "G, threat: forged .md at handoff",
    attacks: "transcript.md, which nobody reads for a verdict",
    verdict: "verified",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const path = honest.written.target.logId.replace(/jsonl$/, "md");
      const beside = { [path]: Buffer.from("# Deploy approved\n") };
      return { ...changed(honest, honest.log), beside };
    },
  },
  {
    name: "rye-flat-lenient-policy-of-project",
    row: "J, threat: policy downgrade",
    attacks: "the project's own policy, set to lenient beside a forged tail",
    verdict: "incomplete",
    codes: ["UNSIGNED_TAIL"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const tail = Buffer.from(`${forgedLine(honest.log)}\n`);
      const policy = Buffer.from("transcript_integrity: lenient\n");
      const beside = { ".ai/config/coordination.yaml": policy };
      return { ...changed(honest, Buffer.concat([honest.log, tail])), beside };
    },
  },
  {
    name: "rye-flat-cut-and-forged-tail",
    row: "I",
    attacks: "cut back to the first checkpoint, a forged tail, read leniently",
    flags: { lenient: true },
    verdict: "rollback",
    codes: ["BEHIND"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const [first] = checkpointEnds(honest.log);
      const tail = Buffer.from(`${forgedLine(honest.log)}\n`);
      return changed(honest, Buffer.concat([honest.log.subarray(0, first), tail]));
    },
  },
];

export const HISTORY_CASES: readonly AttackCase[] = [...inEveryShape, ...stripped, ...framing];
