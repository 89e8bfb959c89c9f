/**
 * Tar: the header of a member, in the one spelling of bundles (ustar, POSIX.1-1988).
 *
 * - Name and length decide every byte of a header: a regular file, 0600, no owner, no time. So a
 *   header is read by writing it again and comparing; links, devices, sparse files, other forms of
 *   paths and everything else in tars are refused.
 *
 * Bundle reader: finds the members of a file. Does not judge them.
 *
 * - Every byte belongs to a header or a member, or is zero where it must be. So the members' hashes
 *   cover the whole file.
 * - The names are ours, each once, even on file systems that ignore case.
 * - No length is trusted: a member that would end after the file is refused.
 *
 * Bundle writer: writes members one after another into a file, and records each member's length and
 * hash.
 *
 * A member's length is known only at its end; then its header is written, in the space left for it.
 */

import { createHash } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { asAscii, utf8 } from "../../trust/proof/bytes.ts";
import { badBundle, isDerived, isMemberName, LOG, MANIFEST } from "./member-names.ts";

const CHUNK_BYTES = 256 * 1024;
export const BLOCK_BYTES = 512;
/** Two blocks of zeros end the file. */
export const END_BYTES = 2 * BLOCK_BYTES;
/** Offsets of the fields that are not zero. */
const MODE = 100;
const SIZE = 124;
const SUM = 148;
const MAGIC = 257;
const VERSION = 263;
const DEVICE = 329;

/** The header of a member; refuses with BUNDLE_TOO_LARGE what does not fit a header. */
export function memberHeader(name: string, bytes: number): Uint8Array {
  const { memberBytesMax, memberNameMax } = BUNDLE_LIMITS;
  if (bytes > memberBytesMax) throw tooLarge(name, bytes, memberBytesMax);
  if (name.length > memberNameMax) throw tooLarge(name, name.length, memberNameMax);
  const header = new Uint8Array(BLOCK_BYTES);
  header.set(utf8(name), 0);
  const put = (at: number, ...fields: readonly string[]) => {
    header.set(utf8(fields.map((field) => `${field}\u0000`).join("")), at);
  };
  put(MODE, octal(0o600, 7), octal(0, 7), octal(0, 7)); // Then user and group.
  put(SIZE, octal(bytes, 11), octal(0, 11)); // Then the time.
  header.set(utf8("        0"), SUM); // The checksum counts itself as blanks; then the type.
  put(MAGIC, "ustar");
  header.set(utf8("00"), VERSION);
  put(DEVICE, octal(0, 7), octal(0, 7));
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.set(utf8(`${octal(sum, 6)}\u0000 `), SUM);
  return header;
}

/** Parses a header; null when the block is not one. */
export function readHeader(block: Uint8Array): { name: string; bytes: number } | null {
  const text = asAscii(block);
  const [name = ""] = text.slice(0, MODE).split("\u0000");
  const size = text.slice(SIZE, SIZE + 11);
  if (!/^[\w./-]{1,100}$/.test(name) || !/^[0-7]{11}$/.test(size)) return null;
  const bytes = Number.parseInt(size, 8);
  return Buffer.compare(memberHeader(name, bytes), block) === 0 ? { name, bytes } : null;
}

/** Zeros after a member, up to a whole block. */
export function paddingAfter(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function tooLarge(path: string, bytes: number, bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BUNDLE_TOO_LARGE",
    `${path} is too large for a bundle: ${bytes} of ${bytesMax} bytes; copy the session's ` +
      "files by other means, and verify them there",
    { path, bytes, bytesMax },
  );
}

export interface Member {
  readonly name: string;
  /** Where its bytes begin. */
  readonly start: number;
  readonly bytes: number;
}

/** An open bundle: one descriptor for all reads. */
export interface OpenBundle {
  readonly file: OpenFile;
  readonly path: string;
}

/** The members by name, in order, without the manifest, which is last; refuses with BAD_BUNDLE. */
export async function readMembers(
  bundle: OpenBundle,
): Promise<{ readonly members: ReadonlyMap<string, Member>; readonly manifest: Member }> {
  const { file, path } = bundle;
  const size = file.size();
  const members = new Map<string, Member>();
  const seen = new Set<string>();
  let at = 0;
  for (let isLast = false; !isLast; ) {
    if (members.size > BUNDLE_LIMITS.membersMax) throw badBundle(path, "it has too many members");
    const header = readHeader(await stretch(bundle, at, BLOCK_BYTES));
    if (!header) throw badBundle(path, `there is no member header at byte ${at}`);
    const { name, bytes } = header;
    if (!isMemberName(name))
      throw badBundle(path, `it has a member with an unknown name at byte ${at}`);
    if (seen.has(name.toLowerCase())) throw badBundle(path, `it has ${name} twice`);
    if ((members.size === 0) !== (name === LOG)) throw badBundle(path, "the log is not first");
    const start = at + BLOCK_BYTES;
    const padding = paddingAfter(bytes);
    at = start + bytes + padding;
    if (at + END_BYTES > size) throw badBundle(path, `it ends before ${name} does`);
    if (!(await isZero(bundle, start + bytes, padding))) {
      throw badBundle(path, `what follows ${name} is not empty`);
    }
    members.set(name, { name, start, bytes });
    seen.add(name.toLowerCase());
    isLast = name === MANIFEST;
  }
  if (at + END_BYTES !== size || !(await isZero(bundle, at, END_BYTES))) {
    throw badBundle(path, "it does not end after its manifest");
  }
  const manifest = members.get(MANIFEST);
  members.delete(MANIFEST);
  if (!manifest) throw badBundle(path, "it has no manifest");
  return { members, manifest };
}

/** A whole member; only for short ones. */
export function readMember(bundle: OpenBundle, { start, bytes }: Member): Promise<Uint8Array> {
  return stretch(bundle, start, bytes);
}

/** A member's bytes, in chunks. */
export async function* chunksOf(
  bundle: OpenBundle,
  { start, bytes }: Member,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    yield await stretch(bundle, start + at, Math.min(CHUNK_BYTES, bytes - at));
  }
}

export async function sha256Of(bundle: OpenBundle, member: Member): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(bundle, member)) hash.update(chunk);
  return hash.digest("hex");
}

async function stretch({ file, path }: OpenBundle, at: number, bytes: number) {
  const into = new Uint8Array(bytes);
  if ((await file.read(into, at)) !== bytes)
    throw badBundle(path, `it ends at byte ${file.size()}`);
  return into;
}

async function isZero(bundle: OpenBundle, at: number, bytes: number): Promise<boolean> {
  if (bytes === 0) return true;
  return (await stretch(bundle, at, bytes)).every((byte) => byte === 0);
}

/** A member as the manifest lists it. */
export interface ListedMember {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Made from the log for people; never read back. */
  readonly derived: boolean;
}

export class BundleWriter {
  readonly #file: OpenFile;
  readonly #members: ListedMember[] = [];
  #end = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** The files written so far. */
  get members(): readonly ListedMember[] {
    return this.#members;
  }

  /** The end of the file so far. */
  get end(): number {
    return this.#end;
  }

  /** Adds a member whose content is known. */
  add(name: string, content: Uint8Array | string): void {
    const member = this.begin(name);
    member.write(typeof content === "string" ? Buffer.from(content) : content);
    member.end();
  }

  /** Adds a member whose length is not known yet; end it before the next. */
  begin(name: string): { write(bytes: Uint8Array): void; end(): void } {
    const { membersMax } = BUNDLE_LIMITS;
    if (this.#members.length >= membersMax && name !== MANIFEST) throw tooMany(membersMax);
    const start = this.#end;
    const hash = createHash("sha256");
    let bytes = 0;
    this.#end += BLOCK_BYTES;
    return {
      write: (piece) => {
        hash.update(piece);
        bytes += piece.length;
        this.#put(piece);
      },
      end: () => {
        const header = memberHeader(name, bytes);
        writeAll(this.#file, header, start);
        this.#put(new Uint8Array(paddingAfter(bytes)));
        const derived = isDerived(name);
        this.#members.push({ name, bytes, sha256: hash.digest("hex"), derived });
      },
    };
  }

  /** Ends the file. */
  finish(): void {
    this.#put(new Uint8Array(END_BYTES));
  }

  #put(bytes: Uint8Array): void {
    writeAll(this.#file, bytes, this.#end);
    this.#end += bytes.length;
  }
}

function tooMany(bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BUNDLE_TOO_LARGE",
    `the session has more files than the ${bytesMax} that a bundle holds; copy them by other means, ` +
      "and verify them there",
    { path: MANIFEST, bytes: bytesMax + 1, bytesMax },
  );
}
