/** A user who signs: their own keys, trust and pins, real stores, and verdicts on them. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../src/core/base/host.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { type UserPaths, userPaths } from "../../src/core/base/node-paths.ts";
import type { NewEntry } from "../../src/core/model/entry.ts";
import type { DialectName } from "../../src/dialects/registry.ts";
import type { Session } from "../../src/sessions/store/session.ts";
import { Store, type StoreOptions } from "../../src/sessions/store/store.ts";
import { Heads, rememberedIn, storePlaceOf } from "../../src/trust/heads/heads.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import type { RememberedPins, VerifyOptions } from "../../src/trust/judge/verify-options.ts";
import { rotateKey } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { hasSidecar } from "../../src/trust/proof/envelopes.ts";
import type { SessionLog } from "../../src/trust/session-log.ts";
import {
  addTrust,
  revokeTrust,
  Trust,
  transcriptKeys,
} from "../../src/trust/trusted-keys/trust.ts";
import { tempDirectory } from "./temp-directory.ts";

export interface SignedShape {
  readonly dialect: DialectName;
  readonly envelope?: "flat" | "payload";
}

/** Every way in which a log carries its checkpoints. */
export const SHAPES: Readonly<Record<string, SignedShape>> = {
  "rye-flat": { dialect: "rye", envelope: "flat" },
  "rye-payload": { dialect: "rye", envelope: "payload" },
  entire: { dialect: "entire" },
  homeagent: { dialect: "homeagent" },
};

/** Those, and the dialects that carry theirs in the same ways: each must be as hard to forge. */
export const ALL_SHAPES: Readonly<Record<string, SignedShape>> = {
  ...SHAPES,
  claude: { dialect: "claude" },
  sdk: { dialect: "sdk" },
  verbatim: { dialect: "verbatim" },
};

export const said = (text: string): NewEntry => ({
  kind: "message",
  role: "user",
  parts: [{ type: "text", text }],
});

export const answered = (text: string): NewEntry => ({
  kind: "message",
  role: "assistant",
  parts: [{ type: "text", text }],
});

/** One round trip to a model, with its start if the dialect can express it. */
export function turnOf(text: string): readonly NewEntry[] {
  return [{ kind: "turn_start" }, said(text), answered(`${text}: done`)];
}

/** The same, as the session's own dialect can express it. */
export function turnIn({ dialect }: Session, text: string): readonly NewEntry[] {
  return sayable(dialect.name, turnOf(text));
}

/** Omits entries for which the dialect has no line: start and end of sessions and turns. */
export function sayable(dialect: string, entries: readonly NewEntry[]): readonly NewEntry[] {
  if (dialect === "rye" || dialect === "sdk" || dialect === "verbatim") return entries;
  const says: NewEntry["kind"][] = dialect === "entire" ? ["message", "end"] : ["message"];
  return entries.filter(({ kind }) => says.includes(kind));
}

/** A session that was written and closed: its place, and its bytes. */
export interface Written {
  readonly target: SessionLog & { readonly id: string };
  readonly path: string;
  readonly sidecarPath: string;
}

export class SigningUser {
  readonly home = tempDirectory();
  readonly places: UserPaths;
  readonly warnings: string[] = [];

  constructor() {
    this.places = this.#enter();
  }

  /** Sets the environment to this user, until another user's store is opened. */
  #enter(): UserPaths {
    for (const name of ["CONFIG", "STATE", "CACHE"]) {
      process.env[`XDG_${name}_HOME`] = join(this.home, name.toLowerCase());
    }
    return userPaths();
  }

  async store(options: StoreOptions): Promise<Store> {
    this.#enter();
    const onWarning = (warning: string) => void this.warnings.push(warning);
    const defaults = { durability: "os", sign: true, agent: "hello", onWarning } as const;
    return Store.open(nodeHost, { ...defaults, ...options });
  }

  /** Writes a whole session and closes the store: an honest session. */
  async write(
    shape: SignedShape,
    entries: readonly NewEntry[],
    options: Partial<StoreOptions> & { readonly id?: string } = {},
  ): Promise<Written> {
    const { id = idFor(shape), ...rest } = options;
    const store = await this.store({ root: tempDirectory(), ...shape, ...rest });
    const session = store.session(id);
    for (const entry of sayable(store.dialect, entries)) await session.append(entry);
    await store.close();
    return writtenBy(store, session);
  }

  /** Writes a session of that many turns. */
  writeTurns(shape: SignedShape, turns: number, options = {}): Promise<Written> {
    const texts = Array.from({ length: turns }, (_, turn) => `turn ${turn + 1}`);
    return this.write(shape, texts.flatMap(turnOf), options);
  }

  rotate() {
    return rotateKey(nodeHost, this.places);
  }

  /** Trusts another person's key for transcripts. */
  async trusts(publicKey: Uint8Array): Promise<void> {
    const grant = { owner: "Ada", purposes: ["transcript"], sessions: ["**"] } as const;
    await addTrust(nodeHost, this.places, { publicKey, ...grant }, Date.now());
  }

  async revokes(kid: string): Promise<void> {
    await revokeTrust(nodeHost, this.places, { kid }, Date.now());
  }

  get heads(): Heads {
    const onWarning = (warning: string) => void this.warnings.push(warning);
    return new Heads({ host: nodeHost, stateDirectory: this.places.stateDirectory, onWarning });
  }

  /** This user's pin of a session, by its place. */
  async remembered({ dialect, root, id }: SessionLog): Promise<RememberedPins> {
    return rememberedIn(await this.heads.read(), {
      place: await storePlaceOf(nodeHost, { dialect, root }),
      id: id ?? "",
    });
  }

  /** The keys, and the pins if any, by which this user verifies. */
  async judging(target: SessionLog, isPinned: boolean): Promise<VerifyOptions> {
    const keys = transcriptKeys(await Trust.load(this.places), target.id);
    const options = { crypto: nodeCrypto, keys };
    return isPinned ? { ...options, remembered: await this.remembered(target) } : options;
  }

  async verify(
    { target }: Written,
    { isPinned = true, host = nodeHost as Host, ...more } = {},
  ): Promise<VerifyReport> {
    return verifyLog(host, target, { ...(await this.judging(target, isPinned)), ...more });
  }
}

export function idFor({ dialect }: SignedShape): string {
  if (dialect === "verbatim") return "evening";
  return hasSidecar(dialect) ? "kitchen/evening" : "hello-1739012630";
}

export function writtenBy({ dialect, root }: Store, { id, logId, path }: Session): Written {
  return { target: { dialect, root, logId, id }, path, sidecarPath: `${path}.checkpoints` };
}

/** The files of a session that determine its verdict, by path. */
export function filesOf({ path, sidecarPath }: Written): Map<string, Uint8Array> {
  const paths = [path, sidecarPath].filter((each) => existsSync(each));
  return new Map(paths.map((each) => [each, new Uint8Array(readFileSync(each))]));
}
