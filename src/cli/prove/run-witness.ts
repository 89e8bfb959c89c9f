/** Run witness: sends heads to witnesses and authorities, with the user's own key. */

import { resolve } from "node:path";
import { VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { noteOfLog } from "../../evidence/witness/compare-note.ts";
import {
  consistencyFrom,
  noteOf,
  readSignedLog,
  tlogProofOf,
  type WitnessedLog,
} from "../../evidence/witness/signed-log.ts";
import { submitNote } from "../../evidence/witness/submit.ts";
import { requestStamp } from "../../evidence/witness/timestamp.ts";
import { WitnessFolder } from "../../evidence/witness/witness-folder.ts";
import { addWitness, readWitnesses, type Witness } from "../../evidence/witness/witness-list.ts";
import { loadOwnKeys, type Signer } from "../../trust/keys/keys.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { kidOf } from "../../trust/proof/ed25519-keys.ts";
import { readNote, spellNote, spellVerifierKey } from "../../trust/proof/tlog/note.ts";
import { partsOfOrigin, readTreeHead, userNameFault } from "../../trust/proof/tlog/tree-head.ts";
import { EXIT_CODES } from "../../trust/proof/verdict.ts";
import { type Run, textOption, textOptions, UsageError, wholeNumber } from "../command/command.ts";
import { refuseLogPlace, writeNewFile } from "../command/output-file.ts";
import { hostOfLog, withNamedLog } from "./signed-head.ts";
import { orVerdictCode } from "./verdict-code.ts";

const TLOG_EXTENSION = ".tlog-proof";

/** A public key as a witness's list has it. */
export function verifierKeyOf(name: string, publicKey: Uint8Array): string {
  return spellVerifierKey(nodeCrypto, { name: validName(name), role: "log", publicKey });
}

export function witnessFolder(): WitnessFolder {
  return new WitnessFolder(nodeHost, userPaths().stateDirectory);
}

/** The user's name in a note's origin. */
export function nameInNote(note: string): string | null {
  return partsOfOrigin(readTreeHead(readNote(note)?.body ?? "")?.origin ?? "")?.name ?? null;
}

export async function sendToWitness(run: Run, to: string): Promise<number> {
  const witness = await witnessNamed(run, to);
  const folder = witnessFolder();
  return withHead(run, async (log, host) => {
    const { head } = log;
    const note = await noteOf(log, nameFor(run, folder, head.log), await signerOf(log));
    const kid = kidOf(nodeCrypto, witness.key.publicKey);
    const sizes = folder.notes(head.log).map(({ text }) => sizeIn(text, witness));
    const sent = await submitNote(note, {
      witness,
      old: Math.max(0, ...sizes),
      proofFrom: (old) => consistencyFrom(host, log, old),
    });
    if (sent.is === "cosigned") {
      await folder.keepNote(head.log, kid, sent.note);
      const when = new Date(sent.time * 1000).toISOString();
      run.io.out(`${witness.name} cosigned checkpoint ${head.seq} at ${when}`);
      return 0;
    }
    run.io.err(
      sent.is === "ahead"
        ? `${witness.name} has seen this log with ${sent.size} leaves, and it has ` +
            `${head.tree.size} now: something is missing at its end`
        : `${witness.name} has seen another history of this log; something was replaced in it`,
    );
    run.io.err("`verbatim verify --ask-witness` compares the two, and keeps the evidence");
    return EXIT_CODES.rollback;
  });
}

export function stampHead(run: Run, url: string): Promise<number> {
  return withHead(run, async ({ head, line }) => {
    const reply = await requestStamp(url, line);
    const path = await witnessFolder().keepStamp(head.log, head.seq, line, reply);
    run.io.out(`the time stamp of checkpoint ${head.seq} is in ${path}`);
    run.io.err("it is not checked yet: `verbatim verify --tsa-ca FILE` does, with openssl");
    return 0;
  });
}

/** A proof of one line, under the newest kept note that covers it, else under a new one. */
export async function proveTlog(run: Run): Promise<number> {
  const [entry, ...others] = textOptions("--entry", run.options.entry) ?? [];
  const output = textOption("--output", run.options.output);
  if (entry === undefined || others.length > 0 || run.options.consistency || run.options.context) {
    throw new UsageError("--tlog proves one --entry, without --context and --consistency");
  }
  if (output?.endsWith(TLOG_EXTENSION) !== true) {
    throw new UsageError(`with --tlog, the name of the --output ends in ${TLOG_EXTENSION}`);
  }
  const index = wholeNumber("--entry", entry, 1) - 1;
  await refuseLogPlace(resolve(output));
  return withHead(run, async (log, host) => {
    const folder = witnessFolder();
    const signer = await signerOf(log);
    const covering = folder
      .notes(log.head.log)
      .flatMap(({ text, isGivenUp }) => {
        const signed = isGivenUp ? null : noteOfLog(text, log.head.log, [signer.publicKey]);
        return signed !== null && signed.head.size > index ? [signed] : [];
      })
      .sort((one, other) => one.head.size - other.head.size);
    const newest = covering.at(-1)?.note;
    const alike = covering.filter(({ note }) => note.body === newest?.body);
    const lines = alike.flatMap(({ note }) => note.signatures.map(({ line }) => line));
    const note = newest
      ? spellNote(newest.body, [...new Set(lines)])
      : await noteOf(log, nameFor(run, folder, log.head.log), signer);
    await writeNewFile(output, await tlogProofOf(host, log, index, note));
    const seen = covering.length > 0 ? "with the cosignature of a witness" : "without a witness";
    run.io.out(`${output}: line ${index + 1}, ${seen}`);
    return 0;
  });
}

/** After `keys head accept`: says that no witness follows. */
export async function giveUpWitnessed(run: Run, logs: ReadonlySet<string>): Promise<void> {
  for (const log of logs) {
    if (!(await witnessFolder().giveUp(log))) continue;
    run.io.err(
      "witnesses have cosigned what was given up: none of them follows this log any more; " +
        "continue in a new session to be witnessed again",
    );
  }
}

function withHead(
  run: Run,
  work: (log: WitnessedLog, host: Host) => Promise<number>,
): Promise<number> {
  const name = run.args[0] ?? "";
  if (name === "") throw new UsageError("the name given is empty");
  return orVerdictCode(run.io, () =>
    withNamedLog(name, run, async (log, options) => {
      const host = hostOfLog(log);
      return work(await readSignedLog(host, log, options), host);
    }),
  );
}

async function witnessNamed(run: Run, to: string): Promise<Witness> {
  const places = userPaths();
  const key = textOption("--witness-key", run.options.witnessKey);
  if (key !== undefined) return addWitness(nodeHost, places, key, to);
  const witnesses = readWitnesses(places);
  const address = to.replace(/\/+$/, "");
  const witness = witnesses.find(({ name, url }) => name === to || url === address);
  if (witness) return witness;
  throw new UsageError(
    `no witness ${to} is in your list; give its URL, and --witness-key with the key that its ` +
      "operator gave you",
  );
}

/** The key that signed the head. */
async function signerOf({ head, path }: WitnessedLog): Promise<Signer> {
  const ownKeys = await loadOwnKeys(userPaths());
  const signer = ownKeys.find(({ kid }) => kid === head.kid)?.signer;
  if (signer) return signer;
  throw new VerbatimError(
    "KEY_NOT_FOUND",
    `${path} is signed by the key ${head.kid}, which is not here: only its owner can show its head`,
    { key: head.kid },
  );
}

function nameFor(run: Run, folder: WitnessFolder, log: string): string {
  const nameOption = textOption("--as", run.options.as);
  if (nameOption !== undefined) return validName(nameOption);
  const before = folder.notes(log)[0] ?? folder.anyNote();
  const name = before && nameInNote(before.text);
  if (name) return name;
  throw new UsageError("give --as and your name as the witness lists it, such as ada.example");
}

function validName(name: string): string {
  const fault = userNameFault(name);
  if (fault !== null) throw new UsageError(`the name ${JSON.stringify(name)} is refused: ${fault}`);
  return name;
}

/** The size that this witness cosigned. */
function sizeIn(text: string, { key }: Witness): number {
  const note = readNote(text);
  const isIts = note?.signatures.some(({ name }) => name === key.name) === true;
  return isIts ? (readTreeHead(note.body)?.size ?? 0) : 0;
}
