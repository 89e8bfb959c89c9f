/** Attacks on the signatures: borrowed, altered, downgraded, by keys that must not count. */

import type { FindingCode } from "../../../src/proof/verdict.ts";
import { type AttackCase, type Attacked, changed } from "./case.ts";
import {
  bytesOf,
  editLast,
  forgedLine,
  type Honest,
  type Kit,
  legacyLog,
  linesOf,
  resign,
  type ShapeName,
  type Stranger,
  sha256,
} from "./kit.ts";

const SHAPES: readonly ShapeName[] = ["rye-flat", "rye-payload", "entire", "homeagent"];

/** The same for the last checkpoint, in the log or beside it. */
function withLast(honest: Honest, edit: (line: string) => string, isPinned = false): Attacked {
  if (honest.sidecar.length === 0) return changed(honest, editLast(honest.log, edit), isPinned);
  const sidecar = editLast(honest.sidecar, edit);
  return { ...changed(honest, honest.log, isPinned), sidecar };
}

/** Field edits that leave the line a checkpoint, and what notices them. */
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

/** Spellings that another reader would take for the same checkpoint. */
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

const altered: readonly AttackCase[] = SHAPES.flatMap((shape) => [
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
      codes: shape === "homeagent" ? ["SIDECAR_FOREIGN_BYTES"] : ["NOT_A_CHECKPOINT"],
      make: async (kit) => withLast(await kit.honest(shape), edit),
    }),
  ),
  {
    name: `${shape}-newer-version`,
    row: "AB",
    attacks: "the version of the last checkpoint: nobody here can read it",
    verdict: shape === "homeagent" ? "tampered" : "unreadable",
    codes: shape === "homeagent" ? ["SIDECAR_FOREIGN_BYTES"] : ["NEWER_FORMAT"],
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
      const id = shape === "homeagent" ? "kitchen/morning" : "other-1739012630";
      const other = await kit.honest(shape, { id });
      const sidecar = other.sidecar.length > 0 ? { sidecar: other.sidecar } : {};
      return { honest, log: other.log, ...sidecar, pin: null };
    },
  } satisfies AttackCase,
]);

/** With a key of its own in every state of trust. */
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
    (stranger === "unknown" ? SHAPES : (["rye-flat"] as const)).map(
      (shape): AttackCase => ({
        name: `${shape}-signed-by-${stranger}`,
        row: "F, M, threat: attacker key",
        attacks: "the whole session, signed by a key that does not count here",
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
    attacks: "a trusted key that the project brings along",
    verdict: "untrusted",
    codes: ["KEY_UNKNOWN"],
    make: async (kit) => {
      const honest = await kit.by("unknown", "rye-flat");
      const { fp } = await kit.signerOf("unknown");
      const key = Buffer.from("whatever stands here is not looked at\n");
      const beside = { [`.ai/trusted_keys/${fp}.pem`]: key };
      return { ...changed(honest, honest.log, false), beside };
    },
  },
  {
    name: "rye-flat-newest-by-unknown",
    row: "M",
    attacks: "the newest checkpoint alone, signed anew by another key",
    verdict: "untrusted",
    codes: ["KEY_UNKNOWN"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const { kid, fp, sign } = await kit.signerOf("unknown");
      const rename = (before: string) =>
        before
          .replace(/"kid":"[0-9a-f]{64}"/, `"kid":"${kid}"`)
          .replace(/"fp":"[0-9a-f]{16}"/, `"fp":"${fp}"`);
      const last = await resign(linesOf(honest.log).at(-1) ?? "", rename, sign);
      return changed(
        honest,
        editLast(honest.log, () => last),
        false,
      );
    },
  },
  {
    name: "rye-flat-backdated-by-revoked",
    row: "AA",
    attacks: "the time that a revoked key claims: it may claim any",
    verdict: "untrusted",
    codes: ["KEY_REVOKED"],
    make: async (kit) => {
      const honest = await kit.by("revoked", "rye-flat");
      const { sign } = await kit.signerOf("revoked");
      const backdate = (before: string) => before.replace(/"ts":"\d{4}([^"]*Z)"/, '"ts":"2019$1"');
      const last = await resign(linesOf(honest.log).at(-1) ?? "", backdate, sign);
      return changed(
        honest,
        editLast(honest.log, () => last),
        false,
      );
    },
  },
  {
    name: "rye-flat-small-order-key",
    row: "Y",
    attacks: "a key under which one signature fits many messages",
    verdict: "untrusted",
    codes: ["KEY_UNKNOWN"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const identity = Buffer.from([1, ...Array<number>(31).fill(0)]);
      const rename = (before: string) =>
        before.replace(/"kid":"[0-9a-f]{64}"/, `"kid":"${sha256(identity)}"`);
      const signature = Buffer.concat([identity, Buffer.alloc(32)]);
      const last = await resign(linesOf(honest.log).at(-1) ?? "", rename, async () => signature);
      return changed(
        honest,
        editLast(honest.log, () => last),
        false,
      );
    },
  },
  {
    name: "rye-flat-wrong-fp-signed",
    row: "X",
    attacks: "the short name of the key, beside the right long one",
    verdict: "tampered",
    codes: ["SIGNATURE_FALSE"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const { sign } = await kit.signer();
      const rename = (before: string) => before.replace(/"fp":"[0-9a-f]{16}"/, `"fp":"${FP}"`);
      const last = await resign(linesOf(honest.log).at(-1) ?? "", rename, sign);
      return changed(
        honest,
        editLast(honest.log, () => last),
        false,
      );
    },
  },
];

const FP = "0123456789abcdef";

/** With a signature that the right key made for something else. */
async function borrowed(kit: Kit, domain: string | null): Promise<Attacked> {
  const honest = await kit.honest("rye-flat");
  const { sign } = await kit.signer();
  const lines = linesOf(honest.log).map((line) => line.replace("turn 3: done", "turn 3: DONE"));
  const last = lines.pop() ?? "";
  const hash = sha256(bytesOf(lines));
  // The forger had the key's owner sign a document with this hash: that is all `sig` says.
  const sig = `${Buffer.from(await sign(Buffer.from(hash))).toString("base64url")}==`;
  const rehash = (before: string) =>
    before
      .replace(/"hash":"[0-9a-f]{64}"/, `"hash":"${hash}"`)
      .replace(/"sig":"[^"]*"/, `"sig":"${sig}"`);
  const forged = domain === null ? rehash(last) : await resign(last, rehash, sign, domain);
  return changed(honest, bytesOf([...lines, forged]), false);
}

const downgrades: readonly AttackCase[] = [
  {
    name: "rye-flat-borrowed-sig",
    row: "H, threat: signature borrowed from another document",
    attacks: "the last turn, under a `sig` that was made over another document",
    verdict: "tampered",
    codes: ["SIGNATURE_FALSE"],
    make: (kit) => borrowed(kit, null),
  },
  {
    name: "rye-flat-borrowed-sig2",
    row: "H, threat: signature borrowed from another document",
    attacks: "the same, and a `sig2` that was made over the same bytes in another domain",
    verdict: "tampered",
    codes: ["SIGNATURE_FALSE"],
    make: (kit) => borrowed(kit, "verbatim/thread/v2\n"),
  },
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
      ...{ name: `rye-payload-${name}`, row: "AB, P", flags, verdict, codes },
      attacks: "a file in the older format, by a trusted key",
      make: async (kit) =>
        changed(await kit.honest("rye-payload"), await legacyLog(await kit.signer(), tail), false),
    }),
  ),
  {
    name: "rye-payload-legacy-pinned",
    row: "AB, threat: format downgrade",
    attacks: "a session of this format, presented in the older one",
    flags: { profile: "rye" },
    verdict: "rollback",
    codes: ["BEHIND"],
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
  {
    name: "rye-flat-two-types-in-tail",
    row: "L",
    attacks: "a line that is one thing to one reader and another to the next",
    verdict: "tampered",
    codes: ["TAIL_TWO_TYPES"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const line = forgedLine(honest.log).replace(/\}$/, ',"event_type":"token_delta"}');
      return changed(honest, Buffer.concat([honest.log, Buffer.from(`${line}\n`)]));
    },
  },
  {
    name: "rye-flat-escaped-claim-in-tail",
    row: "L",
    attacks: "a line that spells the word checkpoint with escapes",
    verdict: "tampered",
    codes: ["NOT_A_CHECKPOINT"],
    make: async (kit) => {
      const honest = await kit.honest("rye-flat");
      const line = '{"type":"\\u0063heckpoint"}\n';
      return changed(honest, Buffer.concat([honest.log, Buffer.from(line)]));
    },
  },
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

export const SIGNATURE_CASES: readonly AttackCase[] = [...altered, ...keys, ...downgrades];
