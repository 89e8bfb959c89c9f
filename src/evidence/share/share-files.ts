/**
 * Share files: shares in `.shares` of the data directory: `shares.json`, and a copy for each.
 *
 * - The list is replaced atomically and durably, under a lock: a reported revocation is on the disk.
 * - A copy has its version in its name and is never changed. A newer one is on the disk before the
 *   list names it; the older one is then deleted.
 * - One invalid entry makes the whole list invalid: it may be the one with the revocation.
 * - The name begins with a dot, so a backup does not have it: restoring one revives no share.
 */

import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { errnoOf } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readUserFile, userDirectoryFault, userFileMark } from "../../core/base/node-user-files.ts";
import { replaceFileDurably } from "../../core/base/replace.ts";
import { withLockedDirectory } from "../../trust/keys/key-files.ts";
import { NewCopy } from "../redact/new-copy.ts";
import type { CopyOut, Shares } from "./share.ts";
import {
  isListed,
  SHARE_LIMITS,
  type Share,
  shareState,
  sharesRefused,
  tooLong,
  unknownShare,
} from "./share.ts";

export const SHARES_FOLDER = ".shares";
const FILE_NAME = "shares.json";
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const VERSION = 1;
const COPY_NAME = /^([0-9a-f]{8})-(\d{1,9})\.vbd$/;

export class FileShares implements Shares {
  readonly #host: Host;
  readonly #folder: string;
  readonly #nowMs: () => number;
  #known: readonly Share[] = [];
  #mark: string | null | undefined;

  constructor(host: Host, dataDirectory: string, nowMs: () => number) {
    this.#host = host;
    this.#folder = join(dataDirectory, SHARES_FOLDER);
    this.#nowMs = nowMs;
  }

  async list(): Promise<readonly Share[]> {
    return this.#read().filter((each) => isListed(each, this.#nowMs()));
  }

  async byHash(sha256: string): Promise<Share | null> {
    return this.#read().find((each) => each.sha256 === sha256) ?? null;
  }

  async add(share: Share): Promise<void> {
    await this.#change((all) => [...all, share]);
  }

  async publish<T>(id: string, fill: (out: CopyOut) => Promise<T>): Promise<T> {
    const share = this.#read().find((each) => each.id === id);
    if (!share || shareState(share, this.#nowMs()) !== "valid") throw unknownShare(id);
    const version = share.version + 1;
    const path = this.#copyPath({ id, version });
    const taken = () => sharesRefused(path, "another process publishes the same share");
    const file = await NewCopy.create(this.#host, path, taken);
    let bytes = 0;
    try {
      const result = await fill({
        write: (piece) => {
          bytes += piece.length;
          if (bytes > SHARE_LIMITS.copyBytesMax) throw tooLong(share.session);
          file.write(piece);
        },
      });
      await file.keep();
      await this.#change((all) => {
        const now = all.find((each) => each.id === id);
        if (!now || shareState(now, this.#nowMs()) !== "valid") throw unknownShare(id);
        return all.map((each) => (each === now ? { ...now, version, bytes } : each));
      });
      return result;
    } finally {
      file.discard();
    }
  }

  async settle(id: string): Promise<void> {
    await this.#change((all) =>
      all.map((each) => (each.id === id ? { ...each, isLive: false } : each)),
    );
  }

  async drop(id: string): Promise<void> {
    await this.#change((all) => all.filter((each) => each.id !== id));
  }

  async revoke(id: string): Promise<Share> {
    let revoked: Share | undefined;
    await this.#change((all) =>
      all.map((each) => {
        if (each.id !== id) return each;
        const revokedAt = each.revokedAt ?? new Date(this.#nowMs()).toISOString();
        revoked = { ...each, revokedAt };
        return revoked;
      }),
    );
    if (revoked === undefined) throw unknownShare(id);
    return revoked;
  }

  async copyOf(share: Share): Promise<Readable | null> {
    try {
      const file = await open(this.#copyPath(share), "r");
      return createReadStream("", { fd: file, start: 0, end: Math.max(0, share.bytes - 1) });
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return null;
      throw cause;
    }
  }

  async close(): Promise<void> {}

  #copyPath({ id, version }: Pick<Share, "id" | "version">): string {
    return join(this.#folder, `${id}-${version}.vbd`);
  }

  /** Changes the list under the lock, and deletes copies that it no longer names. */
  async #change(change: (all: readonly Share[]) => readonly Share[]): Promise<void> {
    const path = join(this.#folder, FILE_NAME);
    await withLockedDirectory(this.#host, this.#folder, FILE_NAME, async (directory) => {
      this.#mark = undefined;
      const nowMs = this.#nowMs();
      const kept = change(this.#read()).filter((each) => isListed(each, nowMs));
      const shares = checked(path, { version: VERSION, shares: kept });
      const text = `${JSON.stringify({ version: VERSION, shares }, null, 2)}\n`;
      if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw sharesRefused(path, "it is too large");
      await replaceFileDurably(directory, FILE_NAME, text);
      this.#mark = undefined;
      removeCopies(directory, shares, nowMs);
    });
  }

  #read(): readonly Share[] {
    const path = join(this.#folder, FILE_NAME);
    const mark = userFileMark(path);
    if (mark !== null && mark === this.#mark) return this.#known;
    const directoryFault = mark === null ? null : userDirectoryFault(this.#folder);
    if (directoryFault !== null) throw sharesRefused(path, `its directory: ${directoryFault}`);
    const file = readUserFile(path, { bytesMax: FILE_BYTES_MAX, access: "secret" });
    if (file?.fault) throw sharesRefused(path, file.fault);
    this.#known = file === null ? [] : checked(path, parsed(path, file.text ?? ""));
    this.#mark = mark;
    return this.#known;
  }
}

/** A version that the list does not name yet may be being published: it is kept. */
function removeCopies(directory: Directory, shares: readonly Share[], nowMs: number): void {
  for (const name of directory.names()) {
    const [, id, version] = COPY_NAME.exec(name) ?? [];
    if (id === undefined) continue;
    const share = shares.find((each) => each.id === id);
    const isNeeded =
      share && shareState(share, nowMs) === "valid" && Number(version) >= share.version;
    if (!isNeeded) directory.remove(name);
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw sharesRefused(path, "it is not JSON");
  }
}

const isTime = (value: unknown) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)) &&
  !Number.isNaN(Date.parse(String(value)));
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown) => typeof value === "string" && value.length <= 4096;

const FIELDS: Readonly<Record<keyof Share, (value: unknown) => boolean>> = {
  id: (value) => /^[0-9a-f]{8}$/.test(String(value)),
  sha256: (value) => /^[0-9a-f]{64}$/.test(String(value)),
  session: isText,
  log: (value) => value === undefined || isText(value),
  rules: (value) => Array.isArray(value) && value.length <= 200 && value.every(isText),
  createdAt: isTime,
  expiresAt: isTime,
  revokedAt: (value) => value === null || isTime(value),
  isLive: (value) => typeof value === "boolean",
  version: isCount,
  bytes: isCount,
};

/** Strict: an unknown field may limit the share. */
function checked(path: string, value: unknown): readonly Share[] {
  const { version, shares } = Object(value) as Readonly<Record<string, unknown>>;
  if (version !== VERSION) throw sharesRefused(path, "this version of Verbatim cannot read it");
  if (!Array.isArray(shares)) throw sharesRefused(path, "it contains no list of shares");
  if (shares.length > SHARE_LIMITS.sharesMax) {
    throw sharesRefused(path, `it has more than ${SHARE_LIMITS.sharesMax} shares; revoke some`);
  }
  const ids = new Set<string>();
  for (const [index, each] of shares.entries()) {
    const fields = Object(each) as Readonly<Record<string, unknown>>;
    const unknown = Object.keys(fields).find((name) => !Object.hasOwn(FIELDS, name));
    const wrong = Object.entries(FIELDS).find(([name, isRight]) => !isRight(fields[name]));
    const fault = unknown ?? wrong?.[0];
    if (fault !== undefined) throw sharesRefused(path, `share ${index + 1}: ${fault} is wrong`);
    if (ids.has(String(fields.id)))
      throw sharesRefused(path, `share ${index + 1}: its id is listed twice`);
    ids.add(String(fields.id));
  }
  return shares as Share[];
}
