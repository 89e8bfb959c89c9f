/** Attacks by removal: cut back, replaced, forked; sidecars; and honest crashes. */

import { type AttackCase, changed, cutBackTo } from "./case.ts";
import { bytesOf, forgedLine, idNamed, linesOf, SHAPE_NAMES, WITH_SIDECAR } from "./kit.ts";

const cutBack: readonly AttackCase[] = SHAPE_NAMES.flatMap((shape) =>
  (
    [
      ["", {}, false, "verified", [], "none"],
      ["-pinned", { lenient: true }, true, "rollback", ["BEHIND"], "none"],
      ["-pin-required", { requirePin: true }, false, "unpinned", ["UNPINNED"], "none"],
    ] as const
  ).map(
    ([name, flags, isPinned, verdict, codes, freshness]): AttackCase => ({
      name: `${shape}-cut-back${name}`,
      row: "C, threat: truncate to an older checkpoint",
      attacks: "everything after an older checkpoint: only a pin shows it",
      flags,
      verdict,
      codes,
      freshness,
      make: async (kit) => cutBackTo(await kit.honest(shape), -2, isPinned),
    }),
  ),
);

const replaced: readonly AttackCase[] = SHAPE_NAMES.flatMap((shape): AttackCase[] => [
  {
    name: `${shape}-rewritten-with-key`,
    row: "O, threat: same uid, with key access",
    attacks: "the whole session, written again with the user's own key: no file shows it",
    verdict: "verified",
    codes: [],
    freshness: "none",
    make: async (kit) => {
      const other = await kit.honest(shape, { word: "rewritten" });
      return changed(other, other.log, false);
    },
  },
  {
    name: `${shape}-rewritten-with-key-pinned`,
    row: "O, threat: key stolen now, rewrite the past",
    attacks: "the same, with a pinned head",
    verdict: "rollback",
    codes: ["REPLACED"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      const other = await kit.honest(shape, { word: "rewritten" });
      return { ...changed(other, other.log), pin: honest.pin };
    },
  },
  {
    name: `${shape}-forked`,
    row: "C, CVE-2023-31438",
    attacks: "another continuation of a shared beginning, signed by the same key",
    verdict: "rollback",
    codes: ["FORK"],
    make: async (kit) => {
      const { one, other } = await kit.forked(shape);
      return { ...changed(other, other.log), pin: one.pin };
    },
  },
  {
    name: `${shape}-pin-behind`,
    row: "control",
    attacks: "nothing: the pin was read, and then a writer continued",
    verdict: "verified",
    codes: [],
    freshness: "ahead",
    make: async (kit) => {
      const begun = await kit.honest(shape, { id: idNamed(shape, "later") });
      const { root } = begun.written.target;
      const later = await kit.honest(shape, { id: idNamed(shape, "later"), root, word: "later" });
      return { ...changed(later, later.log), pin: begun.pin };
    },
  },
  {
    name: `${shape}-missing`,
    row: "A",
    attacks: "the log and its sidecar",
    verdict: "unreadable",
    codes: ["NOT_FOUND"],
    make: async (kit) => ({ honest: await kit.honest(shape), log: null, pin: null }),
  },
  {
    name: `${shape}-missing-pinned`,
    row: "A",
    attacks: "the same, while its head is pinned",
    verdict: "rollback",
    codes: ["BEHIND"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      return { honest, log: null, pin: honest.pin };
    },
  },
  {
    name: `${shape}-never-signed`,
    row: "A",
    attacks: "nothing: it was never signed",
    verdict: "unsigned",
    codes: ["UNSIGNED"],
    make: async (kit) => {
      const honest = await kit.honest(shape, { id: idNamed(shape, "plain"), sign: false });
      return { honest, log: honest.log, pin: null };
    },
  },
  {
    name: `${shape}-crash-then-continued`,
    row: "V, threat: crash mid-line",
    attacks: "unsigned lines, left by a crash or a stranger, after which the session was continued",
    verdict: "incomplete",
    codes: ["FOUND_UNSIGNED"],
    make: async (kit) => {
      const forged = Buffer.from(`${forgedLine((await kit.honest(shape)).log)}\n`);
      const honest = await kit.goneOn(shape, forged);
      return changed(honest, honest.log);
    },
  },
  {
    name: `${shape}-torn-then-continued`,
    row: "U",
    attacks: "nothing: a torn line, never acknowledged, was copied and recorded as cut",
    verdict: "verified",
    codes: [],
    make: async (kit) => {
      const honest = await kit.goneOn(shape, Buffer.from('{"torn":'));
      return changed(honest, honest.log);
    },
  },
]);

/** Attacks on checkpoints in a sidecar file. */
const SIDECARS: readonly Pick<
  SidecarCase,
  "name" | "attacks" | "verdict" | "codes" | "sidecar" | "log" | "isPinned"
>[] = [
  {
    name: "deleted",
    attacks: "the sidecar file",
    verdict: "unsigned",
    codes: ["UNSIGNED"],
    isPinned: false,
    sidecar: () => null,
  },
  {
    name: "deleted-pinned",
    attacks: "the same, while its head is pinned",
    verdict: "rollback",
    codes: ["CHECKPOINTS_STRIPPED"],
    isPinned: true,
    sidecar: () => null,
  },
  {
    name: "emptied",
    attacks: "its bytes: equal to deleting it",
    verdict: "unsigned",
    codes: ["UNSIGNED"],
    isPinned: false,
    sidecar: () => Buffer.alloc(0),
  },
  {
    name: "cut-back",
    attacks: "its last line",
    verdict: "incomplete",
    codes: ["UNSIGNED_TAIL"],
    isPinned: false,
    sidecar: (sidecar) => bytesOf(linesOf(sidecar).slice(0, -1)),
  },
  {
    name: "cut-back-pinned",
    attacks: "its last line, while its head is pinned",
    verdict: "rollback",
    codes: ["BEHIND"],
    isPinned: true,
    sidecar: (sidecar) => bytesOf(linesOf(sidecar).slice(0, -1)),
  },
  {
    name: "torn",
    attacks: "nothing: a crash cut its last line short, which is as if it were absent",
    verdict: "incomplete",
    codes: ["UNSIGNED_TAIL"],
    isPinned: false,
    sidecar: (sidecar) => sidecar.subarray(0, -40),
  },
  {
    name: "ahead",
    attacks: "the end of the log, which it covers",
    verdict: "rollback",
    codes: ["LOG_SHORTER_THAN_SIDECAR"],
    isPinned: false,
    sidecar: (sidecar) => sidecar,
    log: (log) => bytesOf(linesOf(log).slice(0, -1)),
  },
  {
    name: "log-emptied",
    attacks: "all that it covers",
    verdict: "rollback",
    codes: ["LOG_SHORTER_THAN_SIDECAR"],
    isPinned: false,
    sidecar: (sidecar) => sidecar,
    log: () => Buffer.alloc(0),
  },
  {
    name: "log-gone",
    attacks: "the log itself, while its checkpoints are there",
    verdict: "rollback",
    codes: ["LOG_SHORTER_THAN_SIDECAR"],
    isPinned: false,
    sidecar: (sidecar) => sidecar,
    log: () => null,
  },
  {
    name: "foreign-bytes",
    attacks: "its lines, with one that is not a checkpoint",
    verdict: "tampered",
    codes: ["SIDECAR_FOREIGN_BYTES"],
    isPinned: false,
    sidecar: (sidecar) => Buffer.concat([Buffer.from("{}\n"), sidecar]),
  },
  {
    name: "reordered",
    attacks: "the order of its lines",
    verdict: "tampered",
    codes: [],
    isPinned: false,
    sidecar: (sidecar) => bytesOf(linesOf(sidecar).reverse()),
  },
];

interface SidecarCase extends AttackCase {
  readonly sidecar: (sidecar: Buffer) => Buffer | null;
  readonly log?: (log: Buffer) => Buffer | null;
  readonly isPinned: boolean;
}

const sidecars: readonly AttackCase[] = WITH_SIDECAR.flatMap((shape) =>
  SIDECARS.map((one): AttackCase => {
    const { name, attacks, verdict, codes, isPinned } = one;
    return {
      name: `${shape}-sidecar-${name}`,
      row: "threat: sidecar deleted, cut, swapped, ahead",
      attacks,
      verdict,
      codes,
      make: async (kit) => {
        const honest = await kit.honest(shape);
        const log = one.log ? one.log(honest.log) : honest.log;
        const sidecar = one.sidecar(honest.sidecar);
        return { honest, log, sidecar, pin: isPinned ? honest.pin : null };
      },
    };
  }),
);

const swappedSidecars: readonly AttackCase[] = WITH_SIDECAR.map((shape) => ({
  name: `${shape}-sidecar-swapped`,
  row: "D, threat: sidecar swapped",
  attacks: "another session's checkpoints in the sidecar",
  verdict: "tampered",
  codes: ["HASH_MISMATCH"],
  make: async (kit) => {
    const honest = await kit.honest(shape);
    const other = await kit.honest(shape, { id: idNamed(shape, "morning") });
    return { honest, log: honest.log, sidecar: other.sidecar, pin: null };
  },
}));

/** Another session's checkpoints, which cover more bytes than this log has. */
const swappedLonger: readonly AttackCase[] = WITH_SIDECAR.flatMap((shape) =>
  [false, true].map(
    (isAppended): AttackCase => ({
      name: `${shape}-sidecar-${isAppended ? "foreign-line" : "swapped"}-longer`,
      row: "D, threat: sidecar swapped",
      attacks: isAppended
        ? "its end: a checkpoint of another session that covers more than the log has"
        : "another, longer session's checkpoints in the sidecar",
      verdict: "tampered",
      codes: ["OTHER_SESSION"],
      make: async (kit) => {
        const honest = await kit.honest(shape);
        const other = await kit.honest(shape, { id: idNamed(shape, "night"), turns: 9 });
        const last = bytesOf(linesOf(other.sidecar).slice(-1));
        const sidecar = isAppended ? Buffer.concat([honest.sidecar, last]) : other.sidecar;
        // Cut, so that not even the other's genesis covers bytes that exist.
        const log = isAppended ? honest.log : Buffer.alloc(0);
        return { honest, log, sidecar, pin: null };
      },
    }),
  ),
);

const reopened: AttackCase = {
  name: "rye-flat-reopened",
  row: "P",
  attacks: "nothing: a session that had ended was continued, and signed",
  verdict: "verified",
  codes: ["REOPENED"],
  make: async (kit) => {
    const entries = [{ kind: "end", outcome: "completed" } as const];
    const begun = await kit.honest("rye-flat", { id: "reopened-1", entries });
    const { root } = begun.written.target;
    const honest = await kit.honest("rye-flat", { id: "reopened-1", root });
    return changed(honest, honest.log);
  },
};

export const ROLLBACK_CASES: readonly AttackCase[] = [
  ...cutBack,
  ...replaced,
  ...sidecars,
  ...swappedSidecars,
  ...swappedLonger,
  reopened,
];
