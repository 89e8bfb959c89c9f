/**
 * Attacks on readers: bytes that readers interpret differently, and files that must not be read.
 */

import { type AttackCase, changed, cutBackTo, lastCheckpoint, withLast } from "./case.ts";
import { forgedLine, hasSidecarFile, idNamed, PLAIN_SHAPES, type ShapeName } from "./kit.ts";

/** Put between the last checkpoint and its LF, or after it, to be read as another line. */
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

/** Claude's entries are data: a tab is an allowed character there. */
function isRefused(shape: ShapeName, name: string, isTampered: boolean): boolean {
  return isTampered && !(shape === "claude" && name === "tab-in-tail");
}

const inPlainShapes: readonly AttackCase[] = PLAIN_SHAPES.flatMap((shape): AttackCase[] => [
  ...SMUGGLED.map(([name, smuggle, isTampered]): AttackCase => {
    const isBad = isRefused(shape, name, isTampered);
    return {
      name: `${shape}-${name}`,
      row: "B, T, threat: CR / U+2028 / BOM / CRLF games",
      attacks: "readers that split lines elsewhere than at LF, or fail",
      verdict: isBad ? "tampered" : "incomplete",
      codes: isBad ? [] : ["UNSIGNED_TAIL"],
      make: async (kit) => {
        const honest = await kit.honest(shape);
        const text = smuggle(forgedLine(honest.log));
        // A lone surrogate represents a byte that does not occur in UTF-8.
        const bytes = Buffer.from(text.replace("\udfff", "\0"), "utf8");
        if (text.includes("\udfff")) bytes[bytes.indexOf(0)] = 0xff;
        return changed(honest, Buffer.concat([honest.log, bytes]));
      },
    };
  }),
  {
    name: `${shape}-cr-after-last-checkpoint`,
    row: "B",
    attacks: "the last checkpoint's line, continued after a CR",
    verdict: "tampered",
    codes: [hasSidecarFile(shape) ? "SIDECAR_FOREIGN_BYTES" : "TAIL_CONTROL_BYTE"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return withLast(honest, (line) => `${line}\r${forgedLine(honest.log)}`);
    },
  },
  {
    name: `${shape}-bom`,
    row: "B",
    attacks: "a byte order mark before the first line",
    verdict: "tampered",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return changed(honest, Buffer.concat([Buffer.from("\ufeff"), honest.log]), false);
    },
  },
  {
    name: `${shape}-crlf`,
    row: "B",
    attacks: "every LF made CRLF, as mail or Git may do",
    verdict: "tampered",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      const text = honest.log.toString("utf8").replaceAll("\n", "\r\n");
      return changed(honest, Buffer.from(text), false);
    },
  },
  {
    name: `${shape}-checkpoint-quoted`,
    row: "AE",
    attacks: "nothing: a message that quotes a whole checkpoint line is a message",
    verdict: "verified",
    codes: [],
    make: async (kit) => {
      const quoted = lastCheckpoint(await kit.honest(shape));
      const text = `rye:signed: "type":"checkpoint" ${quoted}`;
      const parts = [{ type: "text", text }] as const;
      const entries = [{ kind: "message", role: "user", parts } as const];
      const honest = await kit.honest(shape, { entries, id: idNamed(shape, "quoting") });
      return changed(honest, honest.log);
    },
  },
  {
    name: `${shape}-cut-and-forged-tail`,
    row: "I",
    attacks: "cut back to the first checkpoint, a forged tail, read leniently",
    flags: { lenient: true },
    verdict: "rollback",
    codes: ["BEHIND"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return cutBackTo(honest, 0, true, `${forgedLine(honest.log)}\n`);
    },
  },
]);

export const FRAMING_CASES: readonly AttackCase[] = [
  ...inPlainShapes,
  {
    name: "rye-flat-forged-markdown",
    row: "G, threat: forged .md at handoff",
    attacks: "transcript.md, which no verdict depends on",
    verdict: "verified",
    codes: [],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const path = honest.written.target.logId.replace(/jsonl$/, "md");
      const otherFiles = { [path]: Buffer.from("# Deploy approved\n") };
      return { ...changed(honest, honest.log), otherFiles };
    },
  },
  {
    name: "rye-flat-lenient-policy-of-project",
    row: "J, threat: policy downgrade",
    attacks: "the project's own policy, set to lenient, and a forged tail",
    verdict: "incomplete",
    codes: ["UNSIGNED_TAIL"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const tail = Buffer.from(`${forgedLine(honest.log)}\n`);
      const policy = Buffer.from("transcript_integrity: lenient\n");
      const otherFiles = { ".ai/config/coordination.yaml": policy };
      return { ...changed(honest, Buffer.concat([honest.log, tail])), otherFiles };
    },
  },
];
