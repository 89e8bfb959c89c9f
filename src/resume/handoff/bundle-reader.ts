/**
 * Bundle reader: finds the members of a file. Does not judge them.
 *
 * - Every byte belongs to a header or a member, or is zero where it must be. So the members' hashes
 *   cover the whole file.
 * - The names are ours, each once, even on file systems that ignore case.
 * - No length is trusted: a member that would end after the file is refused.
 */

import { createHash } from "node:crypto";
import type { OpenFile } from "../../core/base/files.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { badBundle, isMemberName, LOG, MANIFEST } from "./member-names.ts";
import { BLOCK_BYTES, END_BYTES, paddingAfter, readHeader } from "./tar.ts";

const CHUNK_BYTES = 256 * 1024;

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
