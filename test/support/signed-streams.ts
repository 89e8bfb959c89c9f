/** Signed streams: a user with their own key, a store on disk, and verdicts on it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { pinnedUnder } from "../../src/evidence/verify/data-directories.ts";
import { verifyDataDirectory } from "../../src/evidence/verify/verify-directory.ts";
import { type LocalStore, openLocalStore } from "../../src/streams/files/local-store.ts";
import type { LocalStoreOptions } from "../../src/streams/files/local-store-options.ts";
import { loadStreamSigner } from "../../src/streams/signing/signing-user.ts";
import { Heads, rememberedIn } from "../../src/trust/heads/heads.ts";
import type { VerifyReport } from "../../src/trust/judge/report.ts";
import { nodeCrypto } from "../../src/trust/keys/node-crypto.ts";
import { Trust, transcriptKeys } from "../../src/trust/trusted-keys/trust.ts";
import { SigningUser } from "./signing-user.ts";
import { tempDirectory } from "./temp-directory.ts";

export const JSON_STREAM = {
  contentType: "application/json",
  body: new Uint8Array(0),
  isClosed: false,
};
export const RAW_STREAM = { ...JSON_STREAM, contentType: "application/octet-stream" };

/** Nothing is signed before it is requested, or the store is closed. */
export const NEVER = { bytesMax: Infinity, appendsMax: Infinity, idleMs: 1e9 };

export class SignedStreams {
  readonly user: SigningUser;
  readonly directory: string;
  readonly warnings: string[] = [];

  constructor(directory = tempDirectory(), user = new SigningUser()) {
    this.directory = directory;
    this.user = user;
  }

  async open(options: Partial<LocalStoreOptions> = {}): Promise<LocalStore> {
    const signing = await loadStreamSigner(nodeHost, (warning) => this.warnings.push(warning));
    return openLocalStore({ dataDirectory: this.directory, signing, ...options });
  }

  /** The reports on a data directory by path; the directory itself is "". */
  async reports(directory = this.directory): Promise<Map<string, VerifyReport>> {
    const trust = await Trust.load(this.user.places);
    const heads = new Heads({
      host: nodeHost,
      stateDirectory: this.user.places.stateDirectory,
      onWarning: (warning) => this.warnings.push(warning),
    });
    const book = await heads.read();
    const found = new Map<string, VerifyReport>();
    const verifying = verifyDataDirectory(nodeHost, directory, {
      optionsFor: ({ id }, names) => ({
        crypto: nodeCrypto,
        keys: transcriptKeys(trust, id),
        remembered: rememberedIn(book, { place: names.place, id, names }),
      }),
      pinnedIn: (names) => pinnedUnder(book.found, names),
    });
    for await (const report of verifying) found.set(report.session ?? "", report);
    return found;
  }

  /** The verdicts by path, with the findings that affect them. */
  async verdicts(directory = this.directory): Promise<Record<string, string>> {
    const verdicts: Record<string, string> = {};
    for (const [path, { verdict, findings }] of await this.reports(directory)) {
      const code = findings.find((each) => each.verdict === verdict)?.code;
      verdicts[path] = code === undefined ? verdict : `${verdict} ${code}`;
    }
    return verdicts;
  }

  /** The kinds of a stream's checkpoints, in order. */
  kinds(file: string): string[] {
    const text = readFileSync(join(this.directory, "logs", `${file}.checkpoints`), "utf8");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line).payload.kind);
  }

  files(): string[] {
    return readdirSync(join(this.directory, "logs")).sort();
  }
}

/** An append of one message. */
export function message(value: unknown) {
  return { body: Buffer.from(JSON.stringify(value)), close: false };
}
