/** Attacks on the signatures: borrowed, altered, downgraded, by keys that must not be accepted. */

import type { FindingCode } from "../../../src/trust/proof/verdict.ts";
import { type AttackCase, type Attacked, changed, lastCheckpoint, withLast } from "./case.ts";
import {
  type Honest,
  hasSidecarFile,
  idNamed,
  PLAIN_SHAPES,
  resign,
  SHAPE_NAMES,
  type Stranger,
  sha256,
} from "./kit.ts";

/** Field edits after which the line is still a checkpoint, and the check that detects them. */
const FIELDS: readonly (readonly [string, RegExp, string, readonly FindingCode[]])[] = [
  ["turn", /"turn":\d+/, '"turn":99', ["SIGNATURE_FALSE"]],
  ["ts", /"ts":"\d{4}([^"]*Z)"/, '"ts":"2019$1"', ["SIGNATURE_FALSE"]],
  ["rev", /"rev":\d+/, '"rev":77', ["SIGNATURE_FALSE"]],
  ["kind", /"kind":"batch"/, '"kind":"turn"', ["SIGNATURE_FALSE"]],
  ["fp", /"fp":"[0-9a-f]{16}"/, '"fp":"0123456789abcdef"', ["SIGNATURE_FALSE"]],
  ["byte-offset", /"byte_offset":\d+/, '"byte_offset":0', []],
  ["hash", /"hash":"[0-9a-f]{64}"/, `"hash":"${"0".repeat(64)}"`, ["HASH_MISMATCH"]],
  ["seq", /"seq":(\d+)/, '"seq":1$1', ["CHAIN_BROKEN"]],
  ["prev", /"prev":"[0-9a-f]{64}"/, `"prev":"${"0".repeat(64)}"`, ["CHAIN_BROKEN"]],
  ["log", /"log":"[0-9a-f]{32}"/, `"log":"${"0".repeat(32)}"`, ["OTHER_LOG"]],
  ["seg", /"seg":"[0-9a-f]{64}"/, `"seg":"${"0".repeat(64)}"`, ["SEGMENT_MISMATCH"]],
  ["tree", /"size":(\d+)/, '"size":1$1', ["TREE_MISMATCH"]],
];

/** Spellings that another reader would accept as the same checkpoint. */
const SPELLINGS: readonly (readonly [string, (line: string) => string])[] = [
  ["fp-as-path", (line) => line.replace(/"fp":"[^"]*"/, '"fp":"../../../proj/evil"')],
  ["negative-offset", (line) => line.replace('"byte_offset":', '"byte_offset":-')],
  ["exponent", (line) => line.replace(/"rev":(\d+)/, '"rev":$1e0')],
  ["polyglot", (line) => line.replace(/\}$/, ',"type":"assistant_text","text":"approved"}')],
  ["space", (line) => line.replace('"v":2', '"v": 2')],
  ["key-twice", (line) => line.replace('"v":2', '"v":2,"v":2')],
  ["base64-slack", (line) => line.replace(/([AQgw])"\}\}$/, (_, last) => `${slack(last)}"}}`)],
  ["base64-padded", (line) => line.replace(/"\}\}$/, '=="}}')],
  ["signature-gone", (line) => line.replace(/,"sig2":"[^"]*"/, "")],
];

/** The next character, which a lenient decoder reads as the same bytes. */
function slack(last: string): string {
  return { A: "B", Q: "R", g: "h", w: "x" }[last] ?? "B";
}

const altered: readonly AttackCase[] = SHAPE_NAMES.flatMap((shape) => [
  ...FIELDS.map(
    ([name, pattern, replacement, codes]): AttackCase => ({
      name: `${shape}-altered-${name}`,
      row: "K",
      attacks: `\`${name}\` of the last checkpoint`,
      verdict: "tampered",
      codes,
      make: async (kit) =>
        withLast(await kit.honest(shape), (line) => line.replace(pattern, replacement)),
    }),
  ),
  ...SPELLINGS.map(
    ([name, edit]): AttackCase => ({
      name: `${shape}-spelled-${name}`,
      row: "E, L, Z, T",
      attacks: "the spelling of the last checkpoint",
      verdict: "tampered",
      codes: hasSidecarFile(shape) ? ["SIDECAR_FOREIGN_BYTES"] : ["NOT_A_CHECKPOINT"],
      make: async (kit) => withLast(await kit.honest(shape), edit),
    }),
  ),
  {
    name: `${shape}-newer-version`,
    row: "AB",
    attacks: "the version of the last checkpoint: an unknown one",
    verdict: "unreadable",
    codes: ["NEWER_FORMAT"],
    make: async (kit) =>
      withLast(await kit.honest(shape), (line) => line.replace('"v":2', '"v":3')),
  } satisfies AttackCase,
  {
    name: `${shape}-swapped-session`,
    row: "D, threat: swap whole file",
    attacks: "another session's files in the place of this one's",
    verdict: "tampered",
    codes: ["OTHER_SESSION"],
    make: async (kit) => {
      const honest = await kit.honest(shape);
      const other = await kit.honest(shape, { id: idNamed(shape, "morning") });
      const sidecar = other.sidecar.length > 0 ? { sidecar: other.sidecar } : {};
      return { honest, log: other.log, ...sidecar, pin: null };
    },
  } satisfies AttackCase,
]);

/** With its last checkpoint changed, and signed again. */
async function resigned(
  honest: Honest,
  edit: (before: string) => string,
  sign: Parameters<typeof resign>[2],
): Promise<Attacked> {
  const last = await resign(lastCheckpoint(honest), edit, sign);
  return withLast(honest, () => last);
}

/** With its own key in every state of trust. */
const STRANGERS: readonly (readonly [Stranger, FindingCode])[] = [
  ["unknown", "KEY_UNKNOWN"],
  ["revoked", "KEY_REVOKED"],
  ["expired", "KEY_EXPIRED"],
  ["future", "KEY_NOT_YET_VALID"],
  ["other-purpose", "KEY_OF_OTHER_PURPOSE"],
  ["other-sessions", "KEY_OF_OTHER_PURPOSE"],
];

const keys: readonly AttackCase[] = [
  ...STRANGERS.flatMap(([stranger, code]) =>
    (stranger === "unknown" ? SHAPE_NAMES : PLAIN_SHAPES).map(
      (shape): AttackCase => ({
        name: `${shape}-signed-by-${stranger}`,
        row: "F, M, threat: attacker key",
        attacks: "the whole session, signed by a key that is not accepted here",
        verdict: "untrusted",
        codes: [code],
        make: async (kit) => {
          const honest = await kit.by(stranger, shape);
          return changed(honest, honest.log, false);
        },
      }),
    ),
  ),
  {
    name: "rye-flat-key-in-project",
    row: "F, threat: attacker key via project trust dir",
    attacks: "a trusted key that comes with the project",
    verdict: "untrusted",
    codes: ["KEY_UNKNOWN"],
    make: async (kit) => {
      const honest = await kit.by("unknown", "rye-flat");
      const { fp } = await kit.signerOf("unknown");
      const key = Buffer.from("this file is not read\n");
      const otherFiles = { [`.ai/trusted_keys/${fp}.pem`]: key };
      return { ...changed(honest, honest.log, false), otherFiles };
    },
  },
  ...PLAIN_SHAPES.flatMap((shape): AttackCase[] => [
    {
      name: `${shape}-newest-by-unknown`,
      row: "M",
      attacks: "the newest checkpoint alone, signed again by another key",
      verdict: "untrusted",
      codes: ["KEY_UNKNOWN"],
      make: async (kit) => {
        const { kid, fp, sign } = await kit.signerOf("unknown");
        const rename = (before: string) =>
          before
            .replace(/"kid":"[0-9a-f]{64}"/, `"kid":"${kid}"`)
            .replace(/"fp":"[0-9a-f]{16}"/, `"fp":"${fp}"`);
        return resigned(await kit.honest(shape), rename, sign);
      },
    },
    {
      name: `${shape}-backdated-by-revoked`,
      row: "AA",
      attacks: "the time that a revoked key claims: it may claim any",
      verdict: "untrusted",
      codes: ["KEY_REVOKED"],
      make: async (kit) => {
        const { sign } = await kit.signerOf("revoked");
        const backdate = (before: string) =>
          before.replace(/"ts":"\d{4}([^"]*Z)"/, '"ts":"2019$1"');
        return resigned(await kit.by("revoked", shape), backdate, sign);
      },
    },
    {
      name: `${shape}-small-order-key`,
      row: "Y",
      attacks: "a key under which one signature fits many messages",
      verdict: "untrusted",
      codes: ["KEY_UNKNOWN"],
      make: async (kit) => {
        const identity = Buffer.from([1, ...Array<number>(31).fill(0)]);
        const rename = (before: string) =>
          before.replace(/"kid":"[0-9a-f]{64}"/, `"kid":"${sha256(identity)}"`);
        const signature = Buffer.concat([identity, Buffer.alloc(32)]);
        return resigned(await kit.honest(shape), rename, async () => signature);
      },
    },
    {
      name: `${shape}-wrong-fp-signed`,
      row: "X",
      attacks: "the short name of the key, with the right long one",
      verdict: "tampered",
      codes: ["SIGNATURE_FALSE"],
      make: async (kit) => {
        const { sign } = await kit.signer();
        const rename = (before: string) => before.replace(/"fp":"[0-9a-f]{16}"/, `"fp":"${FP}"`);
        return resigned(await kit.honest(shape), rename, sign);
      },
    },
  ]),
];

const FP = "0123456789abcdef";

export const SIGNATURE_CASES: readonly AttackCase[] = [...altered, ...keys];
