/**
 * Verify witnessed: adds to a report what third parties say about the log: witnesses, time stamps,
 * a git branch.
 *
 * A kept cosignature says how far the log came at that time, not that nothing followed. Only asking
 * a witness (`--ask-witness`) tells whether it has seen more.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { userPaths } from "../../core/base/node-paths.ts";
import { withFindings } from "../../evidence/verify/judge-streams.ts";
import type { UserJudging } from "../../evidence/verify/user-judging.ts";
import {
  compareWith,
  type FindCheckpoint,
  type JudgedReport,
  noteOfLog,
  type SignedNote,
  witnessesOf,
} from "../../evidence/witness/compare-note.ts";
import { checkpointAt, checkpointInCopy } from "../../evidence/witness/signed-log.ts";
import { askNewest } from "../../evidence/witness/submit.ts";
import { checkStamp } from "../../evidence/witness/timestamp.ts";
import type { WitnessFolder } from "../../evidence/witness/witness-folder.ts";
import { readWitnesses, type Witness } from "../../evidence/witness/witness-list.ts";
import type { VerifyReport } from "../../trust/judge/report.ts";
import { nodeCrypto } from "../../trust/keys/node-crypto.ts";
import { concat, utf8 } from "../../trust/proof/bytes.ts";
import { kidOf } from "../../trust/proof/ed25519-keys.ts";
import { spellNote } from "../../trust/proof/tlog/note.ts";
import { originOf } from "../../trust/proof/tlog/tree-head.ts";
import { type Finding, findingOf } from "../../trust/proof/verdict.ts";
import { transcriptKeys } from "../../trust/trusted-keys/trust.ts";
import { type Run, textOption, textOptions } from "../command/command.ts";
import { nameInNote, witnessFolder } from "./run-witness.ts";

/** A head that a witness cosigned and that the log has. */
export interface Cosignature {
  readonly witness: string;
  readonly time: string;
  readonly seq: number;
  readonly line: string;
  /** It was asked now, and has seen nothing newer. */
  readonly asked: boolean;
}

export type WitnessedReport<R> = R & { readonly witnessed?: readonly Cosignature[] };

export class WitnessJudge {
  readonly #run: Run;
  readonly #judging: UserJudging;
  readonly #witnesses: readonly Witness[];
  readonly #folder: WitnessFolder = witnessFolder();
  readonly #required: readonly string[];

  constructor(run: Run, judging: UserJudging) {
    this.#run = run;
    this.#judging = judging;
    this.#witnesses = readWitnesses(userPaths());
    this.#required = textOptions("--require-witness", run.options.requireWitness) ?? [];
  }

  extend(report: VerifyReport): Promise<WitnessedReport<VerifyReport>> {
    return this.#extend(report, null, (seq) => checkpointAt(nodeHost, report, seq));
  }

  /** `key`: also trusted, by the user's word. */
  extendCopy<R extends JudgedReport>(
    report: R,
    key: Uint8Array | null,
  ): Promise<WitnessedReport<R>> {
    const find = (seq: number) => checkpointInCopy(nodeHost, report.path, report.log ?? "", seq);
    return this.#extend(report, key, find, true);
  }

  async #extend<R extends JudgedReport>(
    report: R,
    key: Uint8Array | null,
    find: FindCheckpoint,
    mayBeOlder = false,
  ): Promise<WitnessedReport<R>> {
    const { log, signed_through: through, verdict } = report;
    if (verdict === "tampered" || verdict === "unreadable") return report;
    const parts = { known: this.#witnesses, kept: this.#folder, find, mayBeOlder };
    const one = new OneLog(report, this.#keysOf(report, key), parts);
    if (log !== null && through !== null) {
      // The log may be rows of a database, of which there is no file.
      await this.#judge(one, log).catch((cause: unknown) => {
        if (!(cause instanceof VerbatimError && cause.code === "LOG_NOT_FOUND")) throw cause;
        one.notCompared();
      });
    }
    one.require(this.#required);
    const extended = withFindings(report, one.findings);
    return one.witnessed.length === 0 ? extended : { ...extended, witnessed: one.witnessed };
  }

  async #judge(one: OneLog, log: string): Promise<void> {
    const { askWitness, origin, tsaCa } = this.#run.options;
    for (const { text, isGivenUp } of this.#folder.notes(log)) {
      await (isGivenUp ? one.givenUp(text) : one.cosigned(text));
    }
    if (askWitness === true) await one.ask(textOption("--origin", origin));
    await one.stamps(textOption("--tsa-ca", tsaCa) ?? null);
  }

  /** The trusted keys that signed the log. */
  #keysOf(
    { keys, session, signed_through: through }: JudgedReport,
    submitted: Uint8Array | null,
  ): Uint8Array[] {
    const trusted = transcriptKeys(this.#judging.trust, session);
    const ownProofs = submitted ? [submitted] : [];
    return keys.flatMap(({ kid, trusted: isTrusted }) => {
      const key = kid !== null && isTrusted ? trusted.byKid(kid, through?.ts ?? "") : null;
      const isGiven = submitted !== null && kid === kidOf(nodeCrypto, submitted);
      return key?.publicKey ? [key.publicKey] : isGiven ? ownProofs : [];
    });
  }
}

class OneLog {
  readonly findings: Finding[] = [];
  readonly witnessed: Cosignature[] = [];
  readonly #report: JudgedReport;
  readonly #find: FindCheckpoint;
  readonly #keys: readonly Uint8Array[];
  readonly #witnesses: readonly Witness[];
  readonly #folder: WitnessFolder;
  readonly #mayBeOlder: boolean;

  constructor(
    report: JudgedReport,
    keys: readonly Uint8Array[],
    parts: {
      readonly known: readonly Witness[];
      readonly kept: WitnessFolder;
      readonly find: FindCheckpoint;
      /** A copy may end before what a witness saw: that is no rollback. */
      readonly mayBeOlder: boolean;
    },
  ) {
    this.#report = report;
    this.#keys = keys;
    this.#find = parts.find;
    this.#witnesses = parts.known;
    this.#folder = parts.kept;
    this.#mayBeOlder = parts.mayBeOlder;
  }

  get #log(): string {
    return this.#report.log ?? "";
  }

  async cosigned(text: string, isAsked = false): Promise<boolean> {
    const signed = noteOfLog(text, this.#log, this.#keys);
    if (signed === null) {
      this.#note("a note of a witness is not signed by a key of this log, and does not count");
      return false;
    }
    const by = witnessesOf(signed, this.#witnesses);
    if (by.length === 0) this.#note("a note is not cosigned by a witness in your list");
    for (const { witness, time } of by) {
      const when = new Date(time * 1000).toISOString();
      const compared = await this.#compare(signed, `${witness.name} cosigned at ${when}`);
      if (compared === null) continue;
      const { to, isNewest } = compared;
      const { seq, line } = signed.at;
      this.witnessed.push({ witness: witness.name, time: when, seq, line, asked: isAsked });
      const rest = isNewest ? "the log's newest" : "the log continues after it";
      this.#say(
        "WITNESSED",
        isAsked
          ? `${witness.name}, asked at ${when}, has seen nothing newer than ${to}: ${rest}`
          : `witnessed by ${witness.name} at ${when} to ${to}; whether it has seen more is not ` +
              "known (--ask-witness)",
      );
    }
    return by.length > 0;
  }

  async givenUp(text: string): Promise<void> {
    const signed = noteOfLog(text, this.#log, this.#keys);
    const names = signed
      ? witnessesOf(signed, this.#witnesses).map(({ witness }) => witness.name)
      : [];
    this.#note(
      `${names.join(", ") || "a witness"} cosigned checkpoint ${signed?.at.seq ?? "?"}, which was ` +
        "given up by `keys head accept`: no witness follows this log any more",
    );
  }

  /** Asks every known witness. Freshness was asked for, so that no answer is `unpinned`. */
  async ask(origin: string | undefined): Promise<void> {
    const names = new Set(this.#folder.notes(this.#log).map(({ text }) => nameInNote(text)));
    if (origin !== undefined) names.add(origin);
    let answers = 0;
    for (const name of names) {
      for (const witness of name === null ? [] : this.#witnesses) {
        try {
          const newest = await askNewest(witness, originOf(name ?? "", this.#log), Date.now);
          if (newest === null) this.#note(`${witness.name} has not seen this log`);
          else if (await this.cosigned(newest.note, true)) answers++;
        } catch (cause) {
          this.#note(cause instanceof Error ? cause.message : String(cause));
        }
      }
    }
    if (answers > 0) return;
    const why =
      this.#witnesses.length === 0
        ? "you list none"
        : names.size === 0
          ? "the name in the log's origin is not known here; give --origin"
          : "none answered for this log";
    this.#say("UNPINNED", `no witness could be asked: ${why}`, "unpinned");
  }

  async stamps(caFile: string | null): Promise<void> {
    for (const { path, seq, line } of this.#folder.stamps(this.#log)) {
      const what = `the time stamp ${path} of checkpoint ${seq}`;
      const checkpoint = await this.#find(seq);
      const stamped = await checkStamp(path, line, caFile);
      if (checkpoint?.line !== line)
        this.#say("TIMESTAMPED", `${what} is of another line than the log's`);
      else if (stamped.is === "valid") {
        this.#say("TIMESTAMPED", `${what} holds: it existed by ${stamped.time}`);
      } else {
        const how = stamped.is === "false" ? "does not hold" : "is not checked";
        this.#say("TIMESTAMPED", `${what} ${how}: ${stamped.why}`);
      }
    }
  }

  notCompared(): void {
    this.#note("what witnesses saw cannot be compared with a log that is in no file");
  }

  require(names: readonly string[]): void {
    for (const name of names) {
      if (this.witnessed.some(({ witness }) => witness === name)) continue;
      this.#say("UNPINNED", `no head of this log is witnessed by ${name}`, "unpinned");
    }
  }

  /** Null if the log contradicts the note: then it was rolled back. */
  async #compare(signed: SignedNote, who: string) {
    const compared = await compareWith(this.#report, signed, this.#find);
    if (compared.is === "same") return compared;
    const { seq } = signed.at;
    if (compared.is === "BEHIND") {
      const last = this.#report.signed_through?.seq ?? "none";
      if (this.#mayBeOlder) {
        this.#note(`${who}: checkpoint ${seq}, and this copy is up to checkpoint ${last}`);
        return null;
      }
      this.#say("BEHIND", `${who}: checkpoint ${seq}, and the log ends with ${last}`, "rollback");
      return null;
    }
    const { body, signatures } = signed.note;
    const note = utf8(
      spellNote(
        body,
        signatures.map(({ line }) => line),
      ),
    );
    const bytes = concat(note, utf8("\n"), compared.evidence ?? new Uint8Array(0));
    const path = await this.#folder.keepEvidence(this.#log, bytes);
    const message = `${who}: another line of checkpoint ${seq}; both are signed, and kept in ${path}`;
    this.#say("FORK", message, "rollback");
    return null;
  }

  #note(message: string): void {
    this.#say("NOT_WITNESSED", message);
  }

  #say(code: Finding["code"], message: string, verdict: Finding["verdict"] = null): void {
    this.findings.push(findingOf(code, verdict, message));
  }
}
