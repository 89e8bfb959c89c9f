/**
 * Kit: what attacks start from. Honest sessions by the real store, other people's keys in every state
 * of trust, and the tools of a forger who has all files and, where a case says so, the key.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFileSync, cpSync, rmSync } from "node:fs";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import type { NewEntry } from "../../../src/core/model/entry.ts";
import { linkSession } from "../../../src/resume/fork/fork.ts";
import type { Signer } from "../../../src/trust/keys/keys.ts";
import { loadSigner } from "../../../src/trust/keys/keys.ts";
import type { Pin } from "../../../src/trust/proof/pin.ts";
import { addTrust, type Grant, revokeTrust } from "../../../src/trust/trusted-keys/trust.ts";
import {
  ALL_SHAPES,
  filesOf,
  idFor,
  type SignedShape,
  SigningUser,
  turnOf,
  type Written,
} from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";

/** Shapes whose checkpoints are in the log, and those with a sidecar file. */
export const INSIDE = ["rye-flat", "rye-payload", "entire"] as const;
export const WITH_SIDECAR = ["homeagent", "claude", "sdk", "verbatim"] as const;
export type ShapeName = (typeof INSIDE)[number] | (typeof WITH_SIDECAR)[number];
export const SHAPE_NAMES: readonly ShapeName[] = [...INSIDE, ...WITH_SIDECAR];
/**
 * One of each kind: for attacks that need no particular shape. Claude's lines may contain anything.
 */
export const PLAIN_SHAPES: readonly ShapeName[] = ["rye-flat", "claude", "sdk"];

export function hasSidecarFile(shape: ShapeName): boolean {
  return WITH_SIDECAR.some((name) => name === shape);
}

/** An id in the shape's form. */
export function idNamed(shape: ShapeName, name: string): string {
  if (shape === "verbatim") return name; // Its ids are one segment.
  return hasSidecarFile(shape) ? `kitchen/${name}` : `${name}-1739012630`;
}

/** A session on the disk, and its pinned head. */
export interface Honest {
  readonly written: Written;
  readonly log: Buffer;
  /** Empty if checkpoints are in the log. */
  readonly sidecar: Buffer;
  readonly pin: Pin;
}

/** Keys of other people. */
export type Stranger =
  | "unknown"
  | "revoked"
  | "expired"
  | "future"
  | "other-purpose"
  | "other-sessions"
  | "original";

const SCOPE = { owner: "somebody", purposes: ["transcript"], sessions: ["**"] } as const;
const GRANTS: Readonly<Record<Exclude<Stranger, "unknown">, Omit<Grant, "publicKey">>> = {
  revoked: SCOPE,
  expired: { ...SCOPE, validBefore: "2020-01-01T00:00:00.000Z" },
  future: { ...SCOPE, validAfter: "2999-01-01T00:00:00.000Z" },
  "other-purpose": { ...SCOPE, purposes: ["thread"] },
  "other-sessions": { ...SCOPE, sessions: ["ci/**"] },
  /** A key that signed the Python original's transcripts. */
  original: { ...SCOPE, profile: "rye" },
};

export class Kit {
  readonly victim = new SigningUser();
  readonly #strangers = new Map<Stranger, SigningUser>();
  readonly #made = new Map<string, Promise<Honest>>();

  /** The victim's own key, for attackers with access to it. */
  signer(): Promise<Signer> {
    return loadSigner(nodeHost, this.victim.places);
  }

  /** A session of three turns. Written once for each shape and name. */
  honest(shape: ShapeName, options: HonestOptions = {}): Promise<Honest> {
    const key = JSON.stringify([shape, options]);
    const made = this.#made.get(key) ?? this.#write(this.victim, shape, options);
    this.#made.set(key, made);
    return made;
  }

  /** The same session, written and signed by another person. */
  async by(stranger: Stranger, shape: ShapeName): Promise<Honest> {
    return this.#write(await this.#stranger(stranger), shape, { word: "by another" });
  }

  /** Two continuations of one beginning, each signed by the victim, on two machines. */
  async forked(shape: ShapeName): Promise<{ readonly one: Honest; readonly other: Honest }> {
    const machines = [tempDirectory(), tempDirectory()] as const;
    const begun = await this.#write(this.victim, shape, { word: "begun" });
    for (const root of machines) cpSync(begun.written.target.root, root, { recursive: true });
    const goOn = async (root: string, word: string) => {
      rmSync(this.victim.places.stateDirectory, { recursive: true }); // Another machine has none.
      return this.#write(this.victim, shape, { word, root });
    };
    return { one: await goOn(machines[0], "one way"), other: await goOn(machines[1], "another") };
  }

  /**
   * A session that was left with these bytes at its end by a crash or a stranger, and then
   * continued.
   */
  async goneOn(shape: ShapeName, tail: Buffer): Promise<Honest> {
    const begun = await this.#write(this.victim, shape, { word: "begun" });
    appendFileSync(begun.written.path, tail);
    const { root } = begun.written.target;
    return this.#write(this.victim, shape, { word: "gone on", root });
  }

  /** By a person whose first key the victim trusts in this way; the first key names the second. */
  async rotated(
    name: ShapeName,
    state: "trusted" | "unknown" | "revoked" | "expired",
    id?: string,
  ): Promise<{ readonly honest: Honest }> {
    const user = new SigningUser();
    const named = id === undefined ? {} : { id };
    const begun = await this.#write(user, name, { word: "by the first", ...named });
    const { publicKey, kid } = await loadSigner(nodeHost, user.places);
    const { places } = this.victim;
    const grant = state === "expired" ? GRANTS.expired : SCOPE;
    if (state !== "unknown") await addTrust(nodeHost, places, { publicKey, ...grant }, Date.now());
    if (state === "revoked") await revokeTrust(nodeHost, places, { kid }, Date.now());
    await user.rotate();
    const { root } = begun.written.target;
    const options = { word: "by the second", turns: 1, root, ...named };
    return { honest: await this.#write(user, name, options) };
  }

  /** With a `link` at its end, or before one more turn. */
  async linked(name: ShapeName, isWithin = false): Promise<Honest> {
    const { victim } = this;
    const begun = await this.#write(victim, name, { word: "linked" });
    const { root, id } = begun.written.target;
    const store = await victim.store({ ...(ALL_SHAPES[name] as SignedShape), root });
    const to = { id: idNamed(name, "next"), log: "0".repeat(32) };
    assert.equal(await linkSession(store, id, to, null), null);
    await store.close();
    return this.#write(victim, name, { word: "on", root, turns: isWithin ? 1 : 0 });
  }

  /** The key of a person whom the victim trusts in this way, or not at all. */
  async signerOf(stranger: Stranger): Promise<Signer> {
    return loadSigner(nodeHost, (await this.#stranger(stranger)).places);
  }

  async #write(user: SigningUser, name: ShapeName, options: HonestOptions): Promise<Honest> {
    const shape = ALL_SHAPES[name] as SignedShape;
    const { word = "turn", id = idFor(shape), turns = 3, root, sign = true } = options;
    const texts = Array.from({ length: turns }, (_, turn) => `${word} ${turn + 1}`);
    const entries: NewEntry[] = options.entries ?? texts.flatMap(turnOf);
    const at = root === undefined ? {} : { root };
    const written = await user.write(shape, entries, { id, sign, ...at });
    assert.deepEqual(user.warnings, []);
    const files = filesOf(written);
    const bytes = (path: string) => Buffer.from(files.get(path) ?? []);
    const pin = (await user.remembered(written.target)).here;
    return {
      written,
      log: bytes(written.path),
      sidecar: bytes(written.sidecarPath),
      pin: pin ?? ({} as Pin),
    };
  }

  async #stranger(name: Stranger): Promise<SigningUser> {
    const present = this.#strangers.get(name);
    if (present) return present;
    const user = new SigningUser();
    this.#strangers.set(name, user);
    const { publicKey, kid } = await loadSigner(nodeHost, user.places);
    if (name === "unknown") return user;
    const { places } = this.victim;
    await addTrust(nodeHost, places, { publicKey, ...GRANTS[name] }, Date.now());
    if (name === "revoked") await revokeTrust(nodeHost, places, { kid }, Date.now());
    return user;
  }
}

export interface HonestOptions {
  /** The text of the turns. */
  readonly word?: string;
  readonly id?: string;
  readonly turns?: number;
  /** Continues the session there. */
  readonly root?: string;
  readonly sign?: boolean;
  readonly entries?: NewEntry[];
}

/** Lines without their LFs. */
export function linesOf(bytes: Buffer): string[] {
  return bytes.toString("utf8").split("\n").slice(0, -1);
}

export function bytesOf(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(""));
}

export function isCheckpoint(line: string): boolean {
  return line.includes('"event_type":"checkpoint"');
}

/** Where each checkpoint line of a log ends. */
export function checkpointEnds(log: Buffer): number[] {
  const ends: number[] = [];
  let end = 0;
  for (const line of linesOf(log)) {
    end += Buffer.byteLength(line) + 1;
    if (isCheckpoint(line)) ends.push(end);
  }
  return ends;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Changes the last line: a forger who only has the file. */
export function editLast(bytes: Buffer, edit: (line: string) => string): Buffer {
  const lines = linesOf(bytes);
  const last = lines.pop() ?? "";
  const edited = edit(last);
  assert.notEqual(edited, last, "the attack changes nothing");
  return bytesOf([...lines, edited]);
}

/** An ordinary line of a log with another text: what a forger wants readers to believe. */
export function forgedLine(log: Buffer): string {
  const line = linesOf(log).findLast((each) => !isCheckpoint(each)) ?? "";
  assert.match(line, / \d: done/);
  return line.replace(/"[^"]*: done"/, '"deploy approved"');
}

/** What a checkpoint's line signs: the domain, and everything before `sig2`. */
const DOMAIN = "verbatim/checkpoint/v2\n";
const SIG2_BYTES = 97;

/** Changes a checkpoint's line and signs it again: a forger who has a key. */
export async function resign(
  line: string,
  edit: (before: string) => string,
  sign: (statement: Buffer) => Promise<Uint8Array>,
  domain = DOMAIN,
): Promise<string> {
  const before = edit(line.slice(0, -SIG2_BYTES));
  const sig2 = await sign(Buffer.from(domain + before));
  return `${before}"sig2":"${Buffer.from(sig2).toString("base64url")}"}}`;
}

/** A thread as the Python original wrote it: checkpoints of the older format, by this key. */
export async function legacyLog(signer: Signer, tail: readonly string[] = []): Promise<Buffer> {
  const timestamp = 1_771_401_382.5;
  const of = { timestamp, thread_id: "hello-1739012630" };
  const lines: string[] = [];
  for (let turn = 1; turn <= 2; turn++) {
    const payload = { text: `turn ${turn}`, role: "user" };
    lines.push(JSON.stringify({ ...of, event_type: "cognition_in", payload }));
    const before = bytesOf(lines);
    const hash = sha256(before);
    const sig = `${Buffer.from(await signer.sign(Buffer.from(hash))).toString("base64url")}==`;
    const facts = { turn, byte_offset: before.length, hash, sig, fp: signer.fp, ts: "2026-02-18" };
    lines.push(JSON.stringify({ ...of, event_type: "checkpoint", payload: facts }));
  }
  const rest = tail.map((type) => JSON.stringify({ ...of, event_type: type, payload: {} }));
  return bytesOf([...lines, ...rest]);
}

/** A session of this format cut down to what its genesis signs, rewritten in the older format. */
export function asLegacy(log: Buffer): Buffer {
  const lines = linesOf(log);
  const at = lines.findIndex(isCheckpoint);
  const { timestamp, thread_id, payload } = JSON.parse(lines[at] ?? "");
  const { turn, byte_offset, hash, sig, fp, ts } = payload;
  const facts = { turn, byte_offset, hash, sig, fp, ts };
  const older = { timestamp, thread_id, event_type: "checkpoint", payload: facts };
  return bytesOf([...lines.slice(0, at), JSON.stringify(older)]);
}
