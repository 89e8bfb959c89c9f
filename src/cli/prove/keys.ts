/** `verbatim keys`: the keys that sign your sessions. */

import { safeLine } from "../../sessions/render/text.ts";
import type { OwnKey } from "../../trust/keys/keys.ts";
import {
  type CliCommand,
  type CommandGroup,
  type CommandOption,
  type Run,
  textOption,
  UsageError,
} from "../command/command.ts";
import { jsonLine } from "../command/output.ts";
import { printList, type TableColumn } from "../command/table.ts";
import { head } from "./head.ts";
import { trust } from "./trust.ts";

const JSON_OPTION: CommandOption = { flags: "--json", summary: "print the key as JSON" };

const init: CliCommand = {
  name: "init",
  summary: "Create a key if there is none; signing does this automatically",
  options: [JSON_OPTION],
  examples: ["verbatim keys init"],

  async run(run) {
    const { makeFirstKey, places, nodeHost } = await parts();
    const { key, isNew } = await makeFirstKey(nodeHost, places);
    if (!isNew) run.io.err("you already have a key; nothing was created");
    return printKey(key, run);
  },
};

const list: CliCommand = {
  name: "ls",
  summary: "List your keys, the current one first",
  options: [{ flags: "--json", summary: "print one JSON object per key" }],
  examples: ["verbatim keys ls", "verbatim keys ls --json | jq -r .kid"],

  async run(run) {
    const { loadOwnKeys, places } = await parts();
    const revoked = await revocations();
    const keys = await loadOwnKeys(places);
    if (keys.length === 0)
      run.io.err(`no keys in ${places.keyDirectory}; the first signing creates one`);
    await printList(run, keys, {
      json: (key) => jsonOf(key, revoked),
      columns: COLUMNS,
      row: (key) => [key.kid, key.fp, stateOf(key, revoked)],
    });
    return 0;
  },
};

const show: CliCommand = {
  name: "show",
  summary: "Show a key: its id, its short name, its public part",
  args: [{ name: "[key]", summary: "id, the beginning of one, or fp; default: the current key" }],
  options: [JSON_OPTION],
  examples: ["verbatim keys show", "verbatim keys show 21fe31df --json"],

  async run(run) {
    return printKey(await askedKey(run.args[0]), run);
  },
};

const rotate: CliCommand = {
  name: "rotate",
  summary: "Create a new key and retire the current one, which stays trusted for what it signed",
  options: [JSON_OPTION],
  examples: ["verbatim keys rotate"],

  async run(run) {
    const { rotateKey, places, nodeHost } = await parts();
    const { key, retired } = await rotateKey(nodeHost, places);
    run.io.err(`retired: ${retired.kid}`);
    return printKey(key, run);
  },
};

const exportKey: CliCommand = {
  name: "export",
  summary: "Write the public part of a key as PEM, for others to trust",
  args: [{ name: "[file]", summary: "a new file, or - for stdout (default)" }],
  options: [
    { flags: "--key <id>", summary: "key to export; default: the current one" },
    { flags: "--public", summary: "the public part (default)" },
    { flags: "--for-witness <name>", summary: "as name+id+key, for the list of a witness" },
    { flags: "--private", summary: "the private key; anyone who has it can sign as you" },
  ],
  examples: [
    "verbatim keys export | ssh other 'verbatim keys trust add - --owner me --yes'",
    "verbatim keys export my-key.pem",
    "verbatim keys export --for-witness ada.example",
    "verbatim keys export --private backup.pem",
  ],

  async run({ args, options, io }) {
    const [file = "-"] = args;
    if (options.public && options.private)
      throw new UsageError("give --public or --private, not both");
    const witnessName = textOption("--for-witness", options.forWitness);
    if (witnessName !== undefined) {
      if (options.private) throw new UsageError("a witness never gets a private key");
      const { verifierKeyOf } = await import("./run-witness.ts");
      const { publicKey } = await askedKey(textOption("--key", options.key));
      await io.print(`${verifierKeyOf(witnessName, publicKey)}\n`);
      return 0;
    }
    const pem = await pemOf(textOption("--key", options.key), options.private === true);
    if (options.private) {
      if (file === "-" && io.isTerminal) {
        throw new UsageError("a private key is not shown on a terminal; name a file");
      }
      io.err("warning: this is a private key; anyone who has it can sign as you");
    }
    if (file === "-") await io.print(pem);
    else {
      const { writeNewFile } = await import("../command/output-file.ts");
      await writeNewFile(file, pem);
    }
    return 0;
  },
};

const importKey: CliCommand = {
  name: "import",
  summary: "Import a private key: unencrypted PKCS#8 PEM, Ed25519 (rye's format)",
  args: [{ name: "<file>", summary: "a file that only you can read, or - for stdin" }],
  options: [
    {
      flags: "--as <state>",
      summary: "sign with it from now on, or only verify; required if you have a key",
      choices: ["current", "retired"],
    },
    JSON_OPTION,
  ],
  examples: [
    "verbatim keys import ~/.ai/config/keys/signing/private_key.pem --as retired",
    "pass show verbatim | verbatim keys import - --as current",
  ],

  async run(run) {
    const { args, options, io } = run;
    const { importKey, loadOwnKeys, places, nodeHost } = await parts();
    const key = await givenKey(args[0] ?? "", run);
    const stateAfter = options.as as OwnKey["state"] | undefined;
    const current = (await loadOwnKeys(places)).find(({ state }) => state === "current");
    if (current && stateAfter === undefined) {
      throw new UsageError(
        "you already have a key; give --as current to sign with this one, or --as retired",
      );
    }
    const imported = await importKey(nodeHost, places, key, stateAfter ?? "current");
    if (current && imported.state === "current" && imported.kid !== current.kid) {
      io.err(`retired: ${current.kid}`);
    }
    return printKey(imported, run);
  },
};

export const keys: CommandGroup = {
  name: "keys",
  summary: "Manage your keys, those you trust, and pinned heads",
  commands: [init, list, show, rotate, exportKey, importKey, trust, head],
};

/** Not loaded to print help (C1). */
async function parts() {
  const { userPaths } = await import("../../core/base/node-paths.ts");
  const { nodeHost } = await import("../../core/base/node-host.ts");
  return { ...(await import("../../trust/keys/keys.ts")), places: userPaths(), nodeHost };
}

async function askedKey(name: string | undefined): Promise<OwnKey> {
  const { loadOwnKeys, noKey, places } = await parts();
  const ownKeys = await loadOwnKeys(places);
  if (name !== undefined)
    return (await import("../../trust/keys/key-files.ts")).findKey(name, ownKeys);
  const current = ownKeys.find(({ state }) => state === "current");
  if (current) return current;
  throw noKey(places.keyDirectory);
}

async function pemOf(name: string | undefined, isPrivate: boolean): Promise<string> {
  const key = await askedKey(name);
  const { publicKeyPem } = await import("../../trust/proof/ed25519-keys.ts");
  if (!isPrivate) return publicKeyPem(key.publicKey);
  const { PRIVATE_NAME, readPrivateKeyFile } = await import("../../trust/keys/key-files.ts");
  const { privateKeyPem } = await import("../../trust/keys/pem.ts");
  return privateKeyPem(readPrivateKeyFile(`${key.directory}/${PRIVATE_NAME}`));
}

async function givenKey(file: string, { io }: Run) {
  const { keyRefused, readPrivateKeyFile } = await import("../../trust/keys/key-files.ts");
  if (file !== "-") return readPrivateKeyFile(file);
  const { PEM_BYTES_MAX, parsePrivatePem } = await import("../../trust/keys/pem.ts");
  const { readPiped } = await import("../command/question.ts");
  const { value, fault } = parsePrivatePem(await readPiped(io, PEM_BYTES_MAX));
  if (fault !== null) throw keyRefused(null, fault);
  return value;
}

type Revocations = ReadonlyMap<string, string>;

/** When keys were revoked, by their ids. */
async function revocations(): Promise<Revocations> {
  const { readTrustFile } = await import("../../trust/trusted-keys/trust-file.ts");
  const { places } = await parts();
  const revoked = readTrustFile(places.trustPath).flatMap(({ kid, revokedAt }) =>
    revokedAt === undefined ? [] : ([[kid, revokedAt]] as const),
  );
  return new Map(revoked);
}

async function printKey(key: OwnKey, { options, io }: Run): Promise<number> {
  const { inGroups } = await import("../../trust/keys/key-files.ts");
  const revoked = await revocations();
  const json = jsonOf(key, revoked);
  if (options.json) {
    await io.print(jsonLine(json));
    return 0;
  }
  io.out(`id          ${inGroups(json.kid)}`);
  io.out(`fp          ${json.fp}`);
  io.out(`public key  ${json.publicKey}`);
  io.out(`state       ${stateOf(key, revoked)}`);
  io.out(`directory   ${safeLine(json.directory)}`);
  return 0;
}

const COLUMNS: readonly TableColumn[] = [
  { heading: "ID", widthMin: 16 },
  { heading: "FP" },
  { heading: "STATE" },
];

function jsonOf(key: OwnKey, revoked: Revocations) {
  const { kid, fp, publicKey, state, directory, signer } = key;
  return {
    kid,
    fp,
    publicKey: Buffer.from(publicKey).toString("base64url"),
    state,
    canSign: signer !== null,
    revokedAt: revoked.get(kid) ?? null,
    directory,
  };
}

function stateOf({ kid, state, signer }: OwnKey, revoked: Revocations): string {
  const at = revoked.get(kid);
  if (at !== undefined) return `${state}, revoked ${at}`;
  return signer === null ? `${state}, public part only` : state;
}
