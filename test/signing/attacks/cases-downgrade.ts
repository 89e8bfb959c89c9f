/** Attacks by signatures that were made for something else, or in an older or another format. */

import type { FindingCode } from "../../../src/trust/proof/verdict.ts";
import { type AttackCase, type Attacked, changed, lastCheckpoint, withLast } from "./case.ts";
import {
  asLegacy,
  bytesOf,
  forgedLine,
  type Honest,
  hasSidecarFile,
  type Kit,
  legacyLog,
  linesOf,
  PLAIN_SHAPES,
  resign,
  type ShapeName,
  sha256,
} from "./kit.ts";

/** With a signature that the right key made for something else. */
async function borrowed(kit: Kit, shape: ShapeName, domain: string | null): Promise<Attacked> {
  const honest = await kit.honest(shape);
  const { sign } = await kit.signer();
  const lines = linesOf(honest.log).map((line) => line.replace("turn 3: done", "turn 3: DONE"));
  const covered = hasSidecarFile(shape) ? lines : lines.slice(0, -1);
  const hash = sha256(Buffer.concat([saltOf(honest), bytesOf(covered)]));
  // The forger had the key's owner sign a document with this hash: `sig` covers nothing more.
  const sig = `${Buffer.from(await sign(Buffer.from(hash))).toString("base64url")}==`;
  const rehash = (before: string) =>
    before
      .replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${hash}"`)
      .replace(/"sig":"[^"]*"/, `"sig":"${sig}"`);
  const last = lastCheckpoint(honest);
  const forged = domain === null ? rehash(last) : await resign(last, rehash, sign, domain);
  const attacked = withLast(honest, () => forged);
  return { ...attacked, log: bytesOf(hasSidecarFile(shape) ? covered : [...covered, forged]) };
}

/**
 * What the hash of a log begins with: if its checkpoints are in a sidecar, the salt of the first
 * one.
 */
function saltOf({ sidecar }: Honest): Buffer {
  if (sidecar.length === 0) return Buffer.alloc(0);
  const { payload } = JSON.parse(linesOf(sidecar)[0] ?? "") as { payload: { salt: string } };
  return Buffer.from(payload.salt, "hex");
}

/** Claude's entries are data, and may contain anything: they are only unsigned. */
function tailOf(shape: ShapeName, code: FindingCode): Pick<AttackCase, "verdict" | "codes"> {
  if (shape === "claude") return { verdict: "incomplete", codes: ["UNSIGNED_TAIL"] };
  return { verdict: "tampered", codes: [code] };
}

export const DOWNGRADE_CASES: readonly AttackCase[] = [
  ...PLAIN_SHAPES.flatMap((shape): AttackCase[] => [
    {
      name: `${shape}-borrowed-sig`,
      row: "H, threat: signature borrowed from another document",
      attacks: "the last turn, under a `sig` that was made over another document",
      verdict: "tampered",
      codes: ["SIGNATURE_FALSE"],
      make: (kit) => borrowed(kit, shape, null),
    },
    {
      name: `${shape}-borrowed-sig2`,
      row: "H, threat: signature borrowed from another document",
      attacks: "the same, and a `sig2` that was made over the same bytes in another domain",
      verdict: "tampered",
      codes: ["SIGNATURE_FALSE"],
      make: (kit) => borrowed(kit, shape, "verbatim/thread/v2\n"),
    },
  ]),
  ...(
    [
      ["legacy", {}, [], "untrusted", ["OLDER_FORMAT"]],
      ["legacy-profile", { profile: "rye" }, [], "verified", []],
      [
        "legacy-terminal",
        { profile: "rye" },
        ["thread_completed"],
        "verified",
        ["LEGACY_TERMINAL_UNSIGNED"],
      ],
      ["legacy-tail", { profile: "rye" }, ["cognition_in"], "incomplete", ["UNSIGNED_TAIL"]],
    ] as const
  ).map(
    ([name, flags, tail, verdict, codes]): AttackCase => ({
      name: `rye-payload-${name}`,
      row: "AB, P",
      flags,
      verdict,
      codes,
      attacks: "a file in the older format, by a trusted key",
      make: async (kit) => {
        const older = await legacyLog(await kit.signerOf("original"), tail);
        return changed(await kit.honest("rye-payload"), older, false);
      },
    }),
  ),
  {
    name: "rye-payload-legacy-own-key",
    row: "AB, H",
    attacks: "a file in the older format, by a key that is not trusted for it",
    flags: { profile: "rye" },
    verdict: "untrusted",
    codes: ["KEY_NOT_FOR_OLDER_FORMAT"],
    make: async (kit) =>
      changed(await kit.honest("rye-payload"), await legacyLog(await kit.signer()), false),
  },
  {
    name: "rye-payload-genesis-as-legacy",
    row: "AB, H, threat: format downgrade",
    attacks:
      "a session of this format, cut back to its genesis, whose `sig` is put into the older one",
    flags: { profile: "rye" },
    verdict: "untrusted",
    codes: ["KEY_NOT_FOR_OLDER_FORMAT"],
    make: async (kit) => {
      const honest = await kit.honest("rye-payload");
      return changed(honest, asLegacy(honest.log), false);
    },
  },
  {
    name: "rye-payload-legacy-pinned",
    row: "AB, threat: format downgrade",
    attacks: "a session of this format, presented in the older one",
    flags: { profile: "rye" },
    verdict: "rollback",
    codes: ["CHECKPOINTS_STRIPPED"],
    make: async (kit) =>
      changed(await kit.honest("rye-payload"), await legacyLog(await kit.signer())),
  },
  {
    name: "rye-payload-legacy-after-newer",
    row: "AB, threat: format downgrade",
    attacks: "a checkpoint of the older format after one of this",
    verdict: "tampered",
    codes: ["OLDER_FORMAT_AFTER_NEWER"],
    make: async (kit) => {
      const honest = await kit.honest("rye-payload");
      const last = linesOf(await legacyLog(await kit.signer())).at(-1);
      return changed(honest, Buffer.concat([honest.log, Buffer.from(`${last}\n`)]), false);
    },
  },
  ...PLAIN_SHAPES.flatMap((shape): AttackCase[] => [
    {
      name: `${shape}-two-types-in-tail`,
      row: "L",
      attacks: "a line that readers interpret differently",
      ...tailOf(shape, "TAIL_TWO_TYPES"),
      make: async (kit) => {
        const honest = await kit.honest(shape);
        const line = forgedLine(honest.log).replace(/\}$/, ',"event_type":"token_delta"}');
        return changed(honest, Buffer.concat([honest.log, Buffer.from(`${line}\n`)]));
      },
    },
    {
      name: `${shape}-escaped-claim-in-tail`,
      row: "L",
      attacks: "a line that spells the word checkpoint with escapes",
      ...tailOf(shape, "NOT_A_CHECKPOINT"),
      make: async (kit) => {
        const honest = await kit.honest(shape);
        const line = '{"type":"\\u0063heckpoint"}\n';
        return changed(honest, Buffer.concat([honest.log, Buffer.from(line)]));
      },
    },
  ]),
  {
    name: "rye-flat-other-session-in-tail",
    row: "D",
    attacks: "lines of another session at the end",
    verdict: "tampered",
    codes: ["OTHER_SESSION"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const line = forgedLine(honest.log).replace("hello-1739012630", "other-1739012630");
      return changed(honest, Buffer.concat([honest.log, Buffer.from(`${line}\n`)]));
    },
  },
];
