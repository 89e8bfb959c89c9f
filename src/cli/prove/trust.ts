/** `verbatim keys trust`: manages the keys you trust besides your own. */

import { LEGACY_PROFILE } from "../../trust/proof/envelopes.ts";
import type { Grant, HeldKey } from "../../trust/trusted-keys/trust.ts";
import type { Purpose } from "../../trust/trusted-keys/trust-entry.ts";
import {
  type CliCommand,
  type CommandArgument,
  type CommandGroup,
  type Run,
  textOption,
  UsageError,
} from "../command/command.ts";
import { YES_OPTION } from "../command/options.ts";
import { EXIT_DECLINED, isAgreed } from "../command/question.ts";
import { printList, type TableColumn } from "../command/table.ts";

const KEY_ARGUMENT: CommandArgument = {
  name: "<key>",
  summary: "id, the beginning of one, or fp",
};

const add: CliCommand = {
  name: "add",
  summary: "Trust a key; shows its full id to compare, and asks",
  args: [{ name: "<key>", summary: "a PEM file, - for stdin, or the key in base64url" }],
  options: [
    { flags: "--owner <name>", summary: "name of the key's owner" },
    {
      flags: "--purpose <names>",
      summary: "comma-separated purposes: transcript, thread",
      default: "transcript",
    },
    {
      flags: "--sessions <globs>",
      summary: "comma-separated session globs: * is one part of an id, ** any number",
      default: "**",
    },
    { flags: "--valid-after <time>", summary: "valid from this date or time (UTC)" },
    { flags: "--valid-before <time>", summary: "valid before this date or time (UTC)" },
    {
      flags: "--profile <name>",
      summary:
        "also accept its signatures in the format of the Python original; works for your own keys",
      choices: [LEGACY_PROFILE],
    },
    YES_OPTION,
  ],
  examples: [
    "verbatim keys trust add ada.pem --owner 'Ada Lovelace'",
    "verbatim keys trust add ci.pem --owner CI --sessions 'nightly/**' --valid-before 2027-01-01",
    "ssh ada verbatim keys export | verbatim keys trust add - --owner Ada --yes",
  ],

  async run(run) {
    const grant = await grantOf(run);
    const { addTrust, places, nodeHost } = await parts();
    const { kidOf } = await import("../../trust/proof/ed25519-keys.ts");
    const { nodeCrypto } = await import("../../trust/keys/node-crypto.ts");
    const { inGroups } = await import("../../trust/keys/key-files.ts");
    const { owner, purposes, sessions, validAfter, validBefore, profile } = grant;
    run.io.err(`id        ${inGroups(kidOf(nodeCrypto, grant.publicKey))}`);
    run.io.err(`owner     ${owner}`);
    run.io.err(`purposes  ${purposes.join(", ")}`);
    run.io.err(`sessions  ${sessions.join(", ")}`);
    if (validAfter) run.io.err(`after     ${validAfter}`);
    if (validBefore) run.io.err(`before    ${validBefore}`);
    if (profile) run.io.err(`profile   ${profile}: ${OLDER_FORMAT}`);
    if (!(await isAgreed(run, "compare the id with its owner; trust this key?"))) {
      return EXIT_DECLINED;
    }
    const { kid } = await addTrust(nodeHost, places, grant, Date.now());
    run.io.out(`trusted ${kid}`);
    return 0;
  },
};

const OLDER_FORMAT =
  "a signature there says less, and one of any file can be made to sign a transcript";

const list: CliCommand = {
  name: "ls",
  summary: "List the keys that are trusted, your own first, and those that were revoked",
  options: [{ flags: "--json", summary: "print one JSON object per key" }],
  examples: ["verbatim keys trust ls", "verbatim keys trust ls --json | jq 'select(.revokedAt)'"],

  async run(run) {
    const { Trust, places } = await parts();
    const { keys } = await Trust.load(places);
    await printList(run, keys, { json: jsonOf, columns: COLUMNS, row: rowOf });
    if (keys.length === 0) run.io.err("no key is trusted; your first signing creates a key");
    return 0;
  },
};

const remove: CliCommand = {
  name: "remove",
  summary: "Stop trusting a key; it becomes unknown again",
  args: [KEY_ARGUMENT],
  options: [YES_OPTION],
  examples: ["verbatim keys trust remove 21fe31df"],

  async run(run) {
    const key = await askedKey(run.args[0] ?? "");
    if (key.isOwn && key.entry?.profile === undefined) {
      throw new UsageError("this is your own key: revoke it instead");
    }
    await tell(run, key);
    if (!(await isAgreed(run, "remove this key?"))) return EXIT_DECLINED;
    const { removeTrust, places, nodeHost } = await parts();
    await removeTrust(nodeHost, places, key.kid);
    run.io.out(`removed ${key.kid}`);
    return 0;
  },
};

const revoke: CliCommand = {
  name: "revoke",
  summary: "Distrust a key for good, even your own or an unknown one; nothing it signs counts",
  args: [
    {
      name: "<key>",
      summary: "id, the beginning of one, or fp; unknown: its whole id, or PEM file",
    },
  ],
  options: [{ flags: "--reason <text>", summary: "reason, as free text" }, YES_OPTION],
  examples: [
    "verbatim keys trust revoke 21fe31df --reason 'laptop stolen'",
    "verbatim keys trust revoke thief.pem --reason 'not a key of ours'",
  ],

  async run(run) {
    const { isReason, REASON_CHARS_MAX } = await import("../../trust/trusted-keys/trust-entry.ts");
    const reason = textOption("--reason", run.options.reason);
    if (reason !== undefined && !isReason(reason)) {
      throw new UsageError(`--reason takes one line of at most ${REASON_CHARS_MAX} characters`);
    }
    const key = await keyToRevoke(run);
    await tell(run, key);
    if (!(await isAgreed(run, "revoke this key for good?"))) return EXIT_DECLINED;
    const { revokeTrust, places, nodeHost } = await parts();
    const { kid, publicKey } = key;
    await revokeTrust(nodeHost, places, { kid, reason, publicKey }, Date.now());
    run.io.out(`revoked ${key.kid}`);
    return 0;
  },
};

export const trust: CommandGroup = {
  name: "trust",
  summary: "Manage the keys whose signatures you trust",
  commands: [add, list, remove, revoke],
};

/** Not loaded to print help (C1). */
async function parts() {
  const { userPaths } = await import("../../core/base/node-paths.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  return { ...(await import("../../trust/trusted-keys/trust.ts")), places: userPaths(), nodeHost };
}

async function grantOf(run: Run): Promise<Grant> {
  const { options } = run;
  const { isOwner, OWNER_CHARS_MAX } = await import("../../trust/trusted-keys/trust-entry.ts");
  const owner = textOption("--owner", options.owner);
  if (owner === undefined) throw new UsageError("--owner NAME is missing: whose key is it?");
  if (!isOwner(owner)) {
    throw new UsageError(`--owner takes one line of at most ${OWNER_CHARS_MAX} characters`);
  }
  const validAfter = await timeOption("--valid-after", options.validAfter);
  const validBefore = await timeOption("--valid-before", options.validBefore);
  return {
    owner,
    purposes: await purposesOf(options.purpose),
    sessions: await sessionsOf(options.sessions),
    ...(validAfter && { validAfter }),
    ...(validBefore && { validBefore }),
    ...(options.profile === LEGACY_PROFILE && { profile: options.profile }),
    publicKey: await givenKey(run),
  };
}

async function purposesOf(value: Run["options"][string]): Promise<Purpose[]> {
  const { PURPOSES } = await import("../../trust/trusted-keys/trust-entry.ts");
  return listOf(value).map((name) => {
    const purpose = PURPOSES.find((each) => each === name);
    if (purpose) return purpose;
    throw new UsageError(`--purpose takes ${PURPOSES.join(", ")}, not ${name}`);
  });
}

async function sessionsOf(value: Run["options"][string]): Promise<string[]> {
  const { isGlob, GLOB_CHARS_MAX } = await import("../../trust/trusted-keys/trust-entry.ts");
  const globs = listOf(value);
  if (globs.every(isGlob)) return globs;
  throw new UsageError(`--sessions takes globs of at most ${GLOB_CHARS_MAX} characters`);
}

/** Without duplicates and empty items. */
function listOf(value: Run["options"][string]): string[] {
  return [
    ...new Set(
      String(value)
        .split(",")
        .map((each) => each.trim()),
    ),
  ];
}

async function timeOption(
  flag: string,
  value: Run["options"][string],
): Promise<string | undefined> {
  const text = textOption(flag, value);
  if (text === undefined) return undefined;
  const { parseTrustTime } = await import("../../trust/trusted-keys/trust-entry.ts");
  const time = parseTrustTime(text);
  if (time !== null) return time;
  throw new UsageError(`${flag} takes 2027-01-31 or 2027-01-31T12:00:00Z, not ${text}`);
}

/** The key: in base64url, in a file, or piped in. */
async function givenKey({ args, io }: Run): Promise<Uint8Array> {
  const [source = ""] = args;
  const { keyRefused, readPublicKeyFile } = await import("../../trust/keys/key-files.ts");
  const pem = await import("../../trust/keys/pem.ts");
  if (source !== "-" && !/^[\w-]{43}$/.test(source)) return readPublicKeyFile(source);
  const { readPiped } = await import("../command/question.ts");
  const { value, fault } =
    source === "-"
      ? pem.parsePublicPem(await readPiped(io, pem.PEM_BYTES_MAX))
      : pem.parseRawPublicKey(source);
  if (fault !== null) throw keyRefused(null, fault);
  return value;
}

async function askedKey(name: string): Promise<HeldKey> {
  const { Trust, places } = await parts();
  const { findKey } = await import("../../trust/keys/key-files.ts");
  return findKey(name, (await Trust.load(places)).keys);
}

type RevokedKey = Pick<HeldKey, "kid" | "owner"> & { readonly publicKey: Uint8Array | null };

/** A key that we hold; or an unknown one, by its whole id or by the key itself. */
async function keyToRevoke(run: Run): Promise<RevokedKey> {
  const [name = ""] = run.args;
  const { VerbatimError } = await import("../../core/base/errors.ts");
  const { UNKNOWN_OWNER: owner } = await parts();
  try {
    return await askedKey(name);
  } catch (cause) {
    if (!(cause instanceof VerbatimError && cause.code === "KEY_NOT_FOUND")) throw cause;
    const kid = name.replaceAll(" ", "").toLowerCase();
    if (/^[0-9a-f]{64}$/.test(kid)) return { kid, owner, publicKey: null };
    const { existsSync } = await import("node:fs");
    if (name !== "-" && !/^[\w-]{43}$/.test(name) && !existsSync(name)) {
      const hint = "; an unknown key is revoked by its whole id, or by its PEM file";
      throw new VerbatimError("KEY_NOT_FOUND", `${cause.message}${hint}`, { key: name });
    }
    const { kidOf } = await import("../../trust/proof/ed25519-keys.ts");
    const { nodeCrypto } = await import("../../trust/keys/node-crypto.ts");
    const publicKey = await givenKey(run);
    const given = kidOf(nodeCrypto, publicKey);
    const { Trust, places } = await parts();
    return (await Trust.load(places)).key(given) ?? { kid: given, owner, publicKey };
  }
}

/** Prints the key that is about to change, in full. */
async function tell({ io }: Run, { kid, owner }: Pick<HeldKey, "kid" | "owner">): Promise<void> {
  const { inGroups } = await import("../../trust/keys/key-files.ts");
  io.err(`id     ${inGroups(kid)}`);
  io.err(`owner  ${owner}`);
}

/** Every field is present, or null. */
function jsonOf(key: HeldKey) {
  const { kid, fp, publicKey, owner, isOwn, scope, entry } = key;
  return {
    kid,
    fp: fp || null,
    publicKey: Buffer.from(publicKey).toString("base64url") || null,
    owner,
    own: isOwn,
    purposes: scope.purposes,
    sessions: scope.sessions,
    validAfter: scope.validAfter ?? null,
    validBefore: scope.validBefore ?? null,
    profile: entry?.profile ?? null,
    addedAt: entry?.addedAt ?? null,
    revokedAt: entry?.revokedAt ?? null,
    reason: entry?.reason ?? null,
  };
}

const COLUMNS: readonly TableColumn[] = [
  { heading: "ID", widthMin: 16 },
  { heading: "OWNER", widthMin: 8 },
  { heading: "PURPOSES" },
  { heading: "SESSIONS", widthMin: 8 },
  { heading: "STATE" },
];

function rowOf(key: HeldKey): string[] {
  const { purposes, sessions, validAfter, validBefore } = key.scope;
  const revokedAt = key.entry?.revokedAt;
  const limits = [validAfter && `from ${validAfter}`, validBefore && `until ${validBefore}`];
  const profile = key.entry?.profile && "and in the older format";
  const state = revokedAt
    ? `revoked ${revokedAt}`
    : ["trusted", ...limits, profile].filter(Boolean).join(" ");
  return [key.kid, key.owner, purposes.join(", "), sessions.join(", "), state];
}
