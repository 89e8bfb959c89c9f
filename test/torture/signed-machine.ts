/**
 * Signed machine: signed sessions on a fault disk, set up as for a user: one trusted key, and the
 * head pins on the same disk.
 */

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { Durability, LogMode } from "../../src/core/log/log-options.ts";
import { dialectNamed } from "../../src/dialects/all.ts";
import { Session } from "../../src/sessions/store/session.ts";
import { Heads, storePlaceOf } from "../../src/trust/heads/heads.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { verifyLog } from "../../src/trust/judge/verify.ts";
import type { VerifyOptions } from "../../src/trust/judge/verify-options.ts";
import type { Signer } from "../../src/trust/keys/keys.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { rawPublicKey } from "../../src/trust/keys/pem.ts";
import type { SessionLog } from "../../src/trust/session-log.ts";
import { SignedSessionFiles, sessionPins } from "../../src/trust/signer/session-files.ts";
import { SignedLog } from "../../src/trust/signer/signed-log.ts";
import { type Machine, type Process, STARTED } from "./fault-files.ts";

const ROOT = "/signed";
const STATE = "/signed-state";
const SIGNATURES_KEPT_MAX = 10_000;

const UUID = "f736da47-b2ca-4f86-bb32-a1bbe582e464";

export interface SigningWay {
  readonly mode: LogMode;
  readonly durability: Durability;
  /** End every append with a checkpoint. */
  readonly isEveryAppend: boolean;
}

export class SignedMachine {
  readonly machine: Machine;
  readonly log: SessionLog;
  readonly #onWarning: (warning: string) => void;
  #ids = 0;

  constructor(name: string, machine: Machine, onWarning: (warning: string) => void) {
    const dialect = dialectNamed(name);
    const id = dialect.writing?.newIds?.make("hello", Date.parse(STARTED), UUID) ?? UUID;
    this.machine = machine;
    this.machine.makeDirectory(ROOT);
    this.log = { dialect: name, root: ROOT, logId: dialect.naming.logPath(id).join("/"), id };
    this.#onWarning = onWarning;
  }

  /** What a process would read from the log now; null when there is no log. */
  contents(): Buffer | null {
    const path = `${ROOT}/${this.log.logId}`;
    const slash = path.lastIndexOf("/");
    return this.machine.contents(path.slice(0, slash), path.slice(slash + 1));
  }

  /** The session in a process; `heads` must be of the same process. */
  session(process: Process, heads: Heads, way: SigningWay): Session {
    const host = process.host;
    const { dialect, id, root } = this.log;
    const { mode, durability, isEveryAppend } = way;
    const placing = { dialect, root };
    return new Session({
      host,
      id: id ?? "",
      root,
      dialect: dialectNamed(dialect),
      agent: "hello",
      // Not random, so that a run is the same every time.
      newId: () => `00000000-0000-4000-8000-${String(this.#ids++).padStart(12, "0")}`,
      nowMs: () => Date.parse(STARTED) + host.clock.monotonicMs(),
      cwd: root,
      version: "0",
      model: "m",
      logOptions: { mode, durability, lockWaitMs: mode === "shared" ? 500 : 0 },
      openDerived: null,
      openSigning: async (_, facts) => ({
        log: new SignedLog({
          target: this.log,
          files: new SignedSessionFiles(host, this.log),
          crypto,
          signer,
          ...sessionPins(heads, id ?? "", async () => {
            return { place: await storePlaceOf(host, placing), others: [], leadsTo: null };
          }),
          keys: async () => keys,
          nowMs: () => facts.nowMs,
        }),
        isEveryAppend: isEveryAppend || mode === "shared",
        revision: () => 0,
        pinned: () => heads.flush(),
        onWarning: this.#onWarning,
      }),
      adopt: null,
      onClosed: () => {},
    });
  }

  heads(process: Process): Heads {
    return new Heads({
      host: process.host,
      stateDirectory: STATE,
      onWarning: this.#onWarning,
    });
  }

  /** The verdict with the user's key and head pins. */
  async verify(): Promise<VerifyReport> {
    const process = this.machine.startProcess(true);
    const place = `${this.log.dialect}:${ROOT}`;
    const remembered = await this.heads(process).remembered({ place, id: this.log.id ?? "" });
    return verifyLog(process.host, this.log, { crypto, keys, remembered });
  }
}

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const raw = rawPublicKey(publicKey);
const pem = publicKey.export({ format: "pem", type: "spki" });

/** A new key for each run: signatures have the same length under every key. */
export const signer: Signer = {
  publicKey: raw,
  kid: createHash("sha256").update(raw).digest("hex"),
  fp: createHash("sha256").update(pem).digest("hex").slice(0, 16),
  sign: async (message) => new Uint8Array(sign(null, message, privateKey)),
};

/** Caches results: the same signatures are checked after every crash. */
const checked = new Map<string, boolean>();
const crypto: VerifyOptions["crypto"] = {
  ...nodeCrypto,
  verifyEd25519: (key, message, signature) => {
    const asked = Buffer.concat([key, signature, message]).toString("latin1");
    const known = checked.get(asked);
    if (known !== undefined) return known;
    if (checked.size === SIGNATURES_KEPT_MAX) checked.clear();
    const holds = nodeCrypto.verifyEd25519(key, message, signature);
    checked.set(asked, holds);
    return holds;
  },
};

const { kid, fp } = signer;
const answer = { publicKey: raw, kid, fp, owner: null, refusal: null } as const;
export const keys: VerifyOptions["keys"] = { byKid: () => answer, byFp: () => answer };
