/**
 * Manifest: the description of a bundle, and its signature. Page: docs/formats/bundle.md.
 *
 * - One spelling: compact JSON in ASCII, these keys in this order, one LF. A text that would be
 *   written differently is refused.
 * - `sig` is last, and covers every byte before it after its own domain tag: it cannot be taken for
 *   another signature, nor another for it.
 * - Every field has the form that a writer gives it, also where this program does not use it:
 *   others will.
 * - The key is trusted like one that signs transcripts: by the user's list, at the time it states.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { DIALECT_NAMES } from "../../dialects/registry.ts";
import { asAscii, concat, fromBase64url, toBase64url, utf8 } from "../../trust/proof/bytes.ts";
import { asciiJson, type Sign } from "../../trust/proof/checkpoint.ts";
import type { ProofCrypto } from "../../trust/proof/crypto.ts";
import type { Keys } from "../../trust/proof/ed25519-keys.ts";
import type { Verdict } from "../../trust/proof/verdict.ts";
import type { ListedMember } from "./bundle-archive.ts";
import { isMemberName } from "./member-names.ts";

const SCHEMES: readonly string[] = ["https:", "ssh:", "git:"];
/**
 * `user@host:path`, as git and scp write it; a host has a dot, so that a drive letter is not one.
 */
const SCP = /^(?:[^@/\s]+@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+):([^\s?#:]+)$/;
/** A name, or an IPv6 address in brackets; and a port. */
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;
/** Characters of a URL that need no escaping in a shell: no quotes, blanks or controls. */
const PATH = /^\/[A-Za-z0-9._~%!@+,:=/-]*$/;
const ADDRESS_CHARS_MAX = 2048;
/** Of SHA-1 or SHA-256. */
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Which repository and commit may be named in a bundle. Both come from an untrusted
 * file, and go to people and to git: `ext::sh -c …` and `ssh://-oProxyCommand=…` run programs, a
 * path names a file of the reader's, and a word that begins with `-` is an option.
 *
 * A remote's address for publication, without credentials; null when it is not one.
 */
export function remoteAddress(url: string): string | null {
  if (url.length > ADDRESS_CHARS_MAX) return null;
  const [, scpHost, scpPath] = SCP.exec(url) ?? [];
  const text = scpHost === undefined ? url : `ssh://${scpHost}/${scpPath?.replace(/^\/+/, "")}`;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  if (!parsed || !SCHEMES.includes(parsed.protocol)) return null;
  const { protocol, host, pathname } = parsed;
  return HOST.test(host) && PATH.test(pathname) ? `${protocol}//${host}${pathname}` : null;
}

/** Whether a text is such an address, in our spelling. */
function isRemoteAddress(text: string): boolean {
  return remoteAddress(text) === text;
}

export function isCommit(text: string): boolean {
  return COMMIT.test(text);
}

const DOMAIN = utf8("verbatim/bundle/v1\n");
const SIGNED = /^(\{.*,"kid":"[0-9a-f]{64}"),"sig":"([A-Za-z0-9_-]{86})"\}\n$/;

/** The commit of the code that the session is about. No paths. */
export interface GitIdentity {
  /** Without credentials; null when there is none, or it is a path. */
  readonly remote: string | null;
  readonly commit: string;
}

/** The newest checkpoint of the log. */
export interface BundleHead {
  readonly log: string;
  readonly seq: number;
  readonly byte_offset: number;
  /** SHA-256 of its line. */
  readonly line: string;
}

export interface BundleManifest {
  readonly schema: "verbatim.bundle/1";
  readonly session: string;
  readonly dialect: string;
  /** When it was made, by the signer's clock. */
  readonly made: string;
  readonly by: string;
  readonly head: BundleHead;
  readonly git: GitIdentity | null;
  readonly members: readonly ListedMember[];
  /** The signer: SHA-256 of the raw public key. */
  readonly kid: string;
}

/** The text of a signed manifest. */
export async function signManifest(manifest: BundleManifest, sign: Sign): Promise<string> {
  const before = asciiJson(inOrder(manifest)).slice(0, -1);
  const sig = await sign(concat(DOMAIN, utf8(before)));
  return `${before},"sig":"${toBase64url(sig)}"}\n`;
}

export interface ReadManifest {
  readonly manifest: BundleManifest;
  readonly sig: Uint8Array;
  readonly statement: Uint8Array;
}

/** Parses a manifest; null when it is not one. */
export function readManifest(text: Uint8Array): ReadManifest | null {
  const [, before, encoded] = SIGNED.exec(asAscii(text)) ?? [];
  const sig = encoded === undefined ? null : fromBase64url(encoded);
  if (before === undefined || !sig) return null;
  let value: unknown;
  try {
    value = JSON.parse(`${before}}`);
  } catch {
    return null;
  }
  if (!isManifest(value) || asciiJson(inOrder(value)) !== `${before}}`) return null;
  return { manifest: value, sig, statement: concat(DOMAIN, utf8(before)) };
}

/** Refuses with NOT_VERIFIED a manifest that no trusted key has signed. */
export function requireSigned(
  { manifest, sig, statement }: ReadManifest,
  path: string,
  keys: Keys,
  crypto: Pick<ProofCrypto, "verifyEd25519">,
): void {
  const { kid, made } = manifest;
  const { publicKey, refusal } = keys.byKid(kid, made);
  if (publicKey && !crypto.verifyEd25519(publicKey, statement, sig)) {
    throw notVerified(path, "tampered", "its manifest was changed after it was signed");
  }
  if (refusal === null && publicKey) return;
  throw notVerified(path, "untrusted", `its manifest is signed by the key ${kid} (${refusal})`);
}

export function notVerified(path: string, verdict: Verdict, why: string): VerbatimError {
  return new VerbatimError("NOT_VERIFIED", `${path} is ${verdict}: ${why}; nothing was written`, {
    path,
    verdict,
  });
}

function inOrder(manifest: BundleManifest): BundleManifest {
  const { schema, session, dialect, made, by, head, git, members, kid } = manifest;
  const { log, seq, byte_offset, line } = head;
  return {
    schema,
    session,
    dialect,
    made,
    by,
    head: { log, seq, byte_offset, line },
    git: git && { remote: git.remote, commit: git.commit },
    members: members.map(({ name, bytes, sha256, derived }) => ({ name, bytes, sha256, derived })),
    kid,
  };
}

function isManifest(value: unknown): value is BundleManifest {
  if (!isRecord(value)) return false;
  const { schema, session, dialect, made, by, head, git, members, kid } = value;
  return (
    schema === "verbatim.bundle/1" &&
    typeof session === "string" &&
    isText(by, BY) &&
    isText(kid, HASH) &&
    DIALECT_NAMES.some((name) => name === dialect) &&
    isMoment(made) &&
    isHead(head) &&
    (git === null || isGit(git)) &&
    Array.isArray(members) &&
    members.every(isListed)
  );
}

const BY = /^[\x20-\x7e]{1,100}$/;
const HASH = /^[0-9a-f]{64}$/;
const LOG_IDENTITY = /^[0-9a-f]{32}$/;

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

/** In the one spelling of `toISOString`. */
function isMoment(value: unknown): boolean {
  if (typeof value !== "string" || Number.isNaN(Date.parse(value))) return false;
  return new Date(value).toISOString() === value;
}

function isHead(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { log, seq, byte_offset, line } = value;
  return isText(log, LOG_IDENTITY) && isText(line, HASH) && [seq, byte_offset].every(isCount);
}

function isGit(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { remote, commit } = value;
  const isNamed = remote === null || (typeof remote === "string" && isRemoteAddress(remote));
  return isNamed && typeof commit === "string" && isCommit(commit);
}

function isListed(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, bytes, sha256, derived } = value;
  const isNamed = typeof name === "string" && isMemberName(name);
  return isNamed && isText(sha256, HASH) && isCount(bytes) && typeof derived === "boolean";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
