/**
 * Session appends: appends entries whose lines are finished under the log's lock, because they name
 * the line before them, are write-once, or are signed.
 *
 *   submit ──> the writer's queue ──> append, with the lock held:
 *     spill files · [checkpoints before] · lines ──> write ──> sync ──> [checkpoint after] ──> return
 *                                                       └ meanwhile: hash, sign the next checkpoint
 *
 * Entries are written in the order of the calls. Waiting entries share a write and a sync, and each
 * caller gets the offset after its own lines. If a write is refused, it is refused for all who
 * share it, and the state here stays unchanged. If the end of the log cannot be read, nothing is
 * written.
 *
 * Another program may append at any time. Then a write lands after its lines: those are taken over
 * first, as found, and a checkpoint that landed elsewhere than it says is void
 * (docs/formats/checkpoint.md, "Void checkpoints").
 */

import { assert } from "../../core/base/errors.ts";
import { callersHaveRun } from "../../core/base/in-flight.ts";
import { LOG_LIMITS } from "../../core/base/limits.ts";
import { type ByteOffset, toByteOffset } from "../../core/base/offset.ts";
import type { Companion, QueuedAppend, Turn } from "../../core/log/companion.ts";
import { checkLine } from "../../core/log/line-check.ts";
import type { LogWriter } from "../../core/log/writer.ts";
import type { Native } from "../../core/model/entry.ts";
import {
  type Due,
  dueAfter,
  duesAgain,
  duesAtEnd,
  duesBefore,
  isVouch,
} from "../../trust/signer/dues.ts";
import type { LogSigner } from "../../trust/signer/log-signer.ts";
import type { SignedLog } from "../../trust/signer/signed-log.ts";
import { LineIds } from "./line-ids.ts";
import { IdleTimer, SessionCheckpoints, staysInLog, voidError } from "./session-checkpoints.ts";
import { type SessionAppendsParts, type SessionSigning, warnOnFailure } from "./session-signing.ts";
import {
  addLine,
  type Entries,
  entriesOf,
  place,
  sharedCount,
  spillGroup,
  unspillGroup,
  type Write,
  withoutDue,
  writtenBytes,
} from "./session-write.ts";

/** How often a checkpoint is signed again because it landed after another program's line. */
const TRIES = 64;

type Before = (signer: LogSigner) => readonly Due[];
type Choose = (signer: LogSigner) => readonly Due[] | Promise<readonly Due[]>;

export class SessionAppends implements Companion {
  readonly #parts: SessionAppendsParts;
  readonly #lineIds: LineIds;
  #writer: LogWriter | null = null;
  readonly #checkpoints: SessionCheckpoints;
  readonly #idle = new IdleTimer(() => this.#signRest());

  constructor(parts: SessionAppendsParts) {
    this.#parts = parts;
    this.#lineIds = new LineIds({ ...parts, dialect: parts.dialect() });
    this.#checkpoints = new SessionCheckpoints(parts);
  }

  attach(writer: LogWriter): void {
    this.#writer = writer;
  }

  /**
   * Appends completed entries, all of them or none; resolves to the offset after the last. `ends`
   * receives the offset after each.
   */
  submit(natives: readonly Native[], ends: ByteOffset[] = []): Promise<ByteOffset> {
    try {
      const writer = this.#opened();
      const lines = natives.map((native) =>
        this.#lineIds.prepare(native, this.#checkpoints.markOf(native)),
      );
      for (const { line } of lines) checkLine(writer.path, line, LOG_LIMITS);
      const entries = entriesOf(lines, ends);
      return writer.appendComposed(entries, entries.bytes);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** As many as fit into one write. A checkpoint begins or ends a write (dues.ts). */
  share(waiting: Iterable<QueuedAppend<Entries>>): number {
    const { signing } = this.#parts;
    // Where each append has a checkpoint of its own, appends cannot share a write.
    if (signing?.isEveryAppend) return 1;
    return sharedCount(waiting, this.#checkpoints.turns.ahead());
  }

  async append(waiting: readonly QueuedAppend<Entries>[], turn: Turn): Promise<void> {
    const spilled = waiting.some(({ content }) => content.spills.length > 0);
    const { signing, openDirectory } = this.#parts;
    const group = spilled ? await spillGroup(waiting, openDirectory) : waiting;
    if (group.length === 0) return;
    try {
      if (signing) await this.#appendSigned(signing, group, turn);
      else await this.#write(this.#addLines(await this.#draft(), group), turn);
    } catch (error) {
      await unspillGroup(group, openDirectory, error);
      throw error;
    }
  }

  async #appendSigned(
    signing: SessionSigning,
    group: readonly QueuedAppend<Entries>[],
    turn: Turn,
  ): Promise<void> {
    const { log, isEveryAppend } = signing;
    const marks = group.flatMap(({ content }) => content.lines.map(({ mark }) => mark));
    const before = (signer: LogSigner) =>
      duesBefore(signer, this.#checkpoints.turns, marks[0] ?? null);
    if (log.isSidecar) {
      await this.#settleSidecar(signing, turn, isEveryAppend);
      // The genesis is durable before the first line is written (SL4).
      if (log.signer.isBeginning) await this.#sign(signing, turn, () => ["batch"]);
      else await warnOnFailure(signing, this.#parts.id, () => this.#sign(signing, turn, before));
      await this.#settleSidecar(signing, turn, false);
      this.#idle.restart();
    }
    const begins = log.signer.isBeginning;
    if (!log.isSidecar) await this.#signAllButLast(signing, turn, before);
    const write = await this.#draft();
    const { signer } = log;
    if (!log.isSidecar) await this.#addDues(signing, write, before(signer), turn);
    this.#addLines(write, group);
    const added = write.added.map(({ mark }) => mark);
    // If all lines were already in the log, there is nothing new to sign.
    const after =
      added.length > 0 ? dueAfter(signer, this.#checkpoints.turns, added, isEveryAppend) : null;
    await this.#write(write, turn, after);
    if (begins) await turn.syncAll(); // Also with `os` (SL4).
    const ends = marks.at(-1) === "ends";
    const presign = () => this.#checkpoints.presign("final", write.known.last);
    await this.#parts.derived?.sealed?.(() => turn.syncAll(), ends ? presign : undefined);
    if (this.#parts.isDurable) this.#pinSoon(log);
    const final: Choose = (now) => duesAtEnd(now, "final");
    if (ends) await warnOnFailure(signing, this.#parts.id, () => this.#sign(signing, turn, final));
  }

  /** Call with the lock held, after catching up. */
  async #draft(): Promise<Write> {
    const known = await this.#lineIds.draft();
    const draft = this.#parts.signing?.log.signer.draft() ?? null;
    return { known, chunks: [], length: 0, dueLength: 0, added: [], ends: [], draft, sidecar: [] };
  }

  #addLines(write: Write, group: readonly QueuedAppend<Entries>[]): Write {
    for (const waiting of group) {
      const at: number[] = [];
      for (const prepared of waiting.content.lines) {
        const line = write.known.add(prepared);
        if (line) {
          this.#parts.derived?.expect(line, prepared.whole);
          addLine(write, line, prepared);
        }
        at.push(write.length);
      }
      write.ends.push({ waiting, at });
    }
    return write;
  }

  /** Adds checkpoints over the log so far, which is made durable first (SL1). */
  async #addDues(signing: SessionSigning, write: Write, dues: readonly Due[], turn: Turn) {
    if (dues.length === 0) return;
    await turn.syncAll();
    signing.log.pin();
    for (const due of dues) await this.#checkpoints.add(write, due);
  }

  /**
   * Writes the lines and the checkpoint due after them: both or neither. Returns whether no
   * checkpoint is void.
   */
  async #write(write: Write, turn: Turn, after: Due | null = null): Promise<boolean> {
    const lines = writtenBytes(write);
    const expected = turn.end;
    const start = lines.length > 0 ? turn.append(lines) : expected;
    const isDisplaced = start !== expected;
    const landed = isDisplaced ? await this.#takeDisplaced(write, start, turn) : write;
    place(landed, start);
    const due = landed.draft?.mustRecover ? "recovery" : after;
    const last = after && due ? await this.#endWith(landed, due, start, turn) : null;
    const isVoid = last === "void";
    const end = toByteOffset(start + (last instanceof Uint8Array ? landed.length : lines.length));
    const { derived, isDurable, signing } = this.#parts;
    await turn.settle(() => {
      if (lines.length > 0) derived?.appended(lines, lines.length, start);
      if (last instanceof Uint8Array)
        derived?.appended(last, last.length, toByteOffset(start + lines.length));
      this.#commit(landed, end);
    });
    if (isDurable && write.length > 0) await derived?.madeDurable();
    if (isVoid && signing) await this.#signAgain(signing, start, end, turn);
    return !isVoid && !(isDisplaced && write.dueLength > 0);
  }

  /**
   * The write landed at `start`, after lines of another program. Takes over those, and the write's
   * own checkpoint, which is void there. If they cannot be signed, the append is refused.
   */
  async #takeDisplaced(write: Write, start: ByteOffset, turn: Turn): Promise<Write> {
    try {
      await this.caughtUp(toByteOffset(start + write.dueLength), 0);
      await this.#lineIds.draft(); // Learns which write-once lines were among them.
      return withoutDue(write, this.#parts.signing?.log.signer.draft() ?? null);
    } catch (error) {
      if (await turn.cutBack(start)) throw error;
      throw staysInLog(this.#opened().path, error);
    }
  }

  /** An append waits for a checkpoint, and the one that was written is void. */
  async #signAgain(
    signing: SessionSigning,
    start: ByteOffset,
    end: ByteOffset,
    turn: Turn,
  ): Promise<void> {
    const { log } = signing;
    try {
      await this.caughtUp(turn.end, 0);
      await this.#sign(signing, turn, (signer) => (signer.isBeginning ? ["batch"] : ["recovery"]));
    } catch (error) {
      log.stateFound(start, end);
      throw staysInLog(this.#opened().path, error);
    }
  }

  /**
   * Signs a checkpoint while the disk syncs the lines, and writes it when they are durable. It is
   * not part of their write: a power cut may keep the end of a write and lose its beginning, and
   * then a valid checkpoint would follow bytes that it does not sign. If it cannot be written, the
   * append is refused and its lines are cut off (SL4). Returns what was added to the log, or that
   * it landed elsewhere.
   */
  async #endWith(
    write: Write,
    due: Due,
    start: ByteOffset,
    turn: Turn,
  ): Promise<Uint8Array | "void" | null> {
    const { signing } = this.#parts;
    assert(signing, "only a signed session has checkpoints");
    const { isSidecar, files } = signing.log;
    const durable = turn.syncAll();
    try {
      const ahead = { ...write, draft: write.draft?.draft() ?? null };
      const [made] = await Promise.allSettled([this.#checkpoints.add(ahead, due), durable]);
      await durable; // SL1
      if (made.status === "rejected") throw made.reason;
      const expected = turn.end;
      if (isSidecar) await files.appendSidecar(Buffer.concat(write.sidecar));
      else if (turn.append(made.value) !== expected) return "void";
      ahead.draft?.commit();
      write.length = ahead.length;
      return isSidecar ? null : made.value;
    } catch (error) {
      await durable.catch(() => {}); // Never cut during a sync.
      if (isSidecar && files.mayHaveWritten) {
        throw turn.fail("it is unknown whether the end of an append was written", error);
      }
      if (await turn.cutBack(start)) throw error;
      throw staysInLog(this.#opened().path, error);
    }
  }

  #commit({ known, draft, added }: Write, end: ByteOffset): void {
    const { signing, onKnown } = this.#parts;
    for (const repeat of known.commit(end)) onKnown(repeat);
    if (!signing || !draft) return;
    this.#checkpoints.note(added, end);
    signing.log.commit(draft, end);
    if (added.at(-1)?.mark === "finishes") this.#checkpoints.presign("turn", known.last);
  }

  /** Adds checkpoints that the caller chooses, with the lock held. Durable when it resolves. */
  async addCheckpoints(choose: Choose): Promise<void> {
    const { signing } = this.#parts;
    assert(signing, "only a signed session has checkpoints");
    await this.#opened().inTurn(async (turn) => {
      await this.#settleSidecar(signing, turn, signing.isEveryAppend);
      await this.#sign(signing, turn, async (signer) => {
        const dues = await choose(signer);
        // A rotation comes after the lines a person vouches for (dues.ts).
        return dues.length > 0 && signer.mustRotate ? [...dues, "rotate"] : dues;
      });
    });
  }

  /** On close: stops the timer, and signs the unsigned rest if `signs`. */
  async stop({ signs }: { readonly signs: boolean }): Promise<void> {
    this.#idle.stop();
    await this.#writer?.idle();
    this.#idle.stop(); // Appends that were waiting may have started it again.
    if (signs) await this.#signRest();
  }

  /** A failure is only a warning. */
  async #signRest(): Promise<void> {
    const { signing } = this.#parts;
    if (!signing) return;
    await warnOnFailure(signing, this.#parts.id, async () => {
      if (duesAtEnd(signing.log.signer, "batch").length === 0 && !signing.log.hasUnpinned) return;
      await this.#opened().inTurn(async (turn) => {
        await this.#settleSidecar(signing, turn, signing.isEveryAppend);
        await this.#sign(signing, turn, (signer) => duesAtEnd(signer, "batch"));
      });
    });
  }

  /** Returns whether the checkpoints count. */
  async #signOnce(signing: SessionSigning, turn: Turn, dues: readonly Due[]): Promise<boolean> {
    const { log } = signing;
    const write = await this.#draft();
    await this.#addDues(signing, write, dues, turn);
    if (log.isSidecar) await log.files.appendSidecar(Buffer.concat(write.sidecar));
    const isValid = await this.#write(write, turn);
    if (isValid) await this.#parts.derived?.sealed?.(() => turn.syncAll());
    return isValid;
  }

  /** A write begins with one checkpoint: where two are due, the first is signed before. */
  async #signAllButLast(signing: SessionSigning, turn: Turn, choose: Before): Promise<void> {
    const dues = choose(signing.log.signer);
    if (dues.length > 1) await this.#sign(signing, turn, () => dues.slice(0, -1));
  }

  /** Writes checkpoints without lines; they are durable before they are pinned (SL2). */
  async #sign(signing: SessionSigning, turn: Turn, choose: Choose): Promise<void> {
    const { log } = signing;
    let dues = await choose(log.signer);
    for (let tries = 1; dues.length > 0; tries++) {
      // In the log one by one: the second of two void ones would follow none that counts.
      const [now, later] = log.isSidecar ? [dues, []] : [dues.slice(0, 1), dues.slice(1)];
      const isValid = await this.#signOnce(signing, turn, now);
      if (!isValid && (tries === TRIES || dues.some(isVouch))) throw voidError(this.#opened().path);
      dues = isValid ? later : duesAgain(log.signer, dues);
    }
    if (!log.hasUnpinned) return;
    await turn.syncAll();
    log.pin();
  }

  /** Reads the sidecar again after a failed write; with `looks`, also when others signed. */
  async #settleSidecar({ log }: SessionSigning, turn: Turn, looks: boolean): Promise<void> {
    if (!log.isSidecar || !log.isOpen || (await log.files.isKnown(looks))) return;
    await turn.syncAll();
    await this.#catchUpSigned(turn.end, 0);
  }

  /** Pins after the caller's next lines have been submitted to the disk. */
  #pinSoon(log: SignedLog): void {
    const { head } = log;
    void callersHaveRun().then(() => log.pin(head));
  }

  #opened(): LogWriter {
    assert(this.#writer, "entries are appended to a log that is open");
    return this.#writer;
  }

  async caughtUp(end: ByteOffset, cutBytes: number): Promise<void> {
    await this.#catchUpSigned(end, cutBytes);
    await this.#lineIds.caughtUp(end);
    await this.#parts.derived?.caughtUp(end, cutBytes);
  }

  /** Verifies the log, or what other writers appended, and counts its turns. */
  async #catchUpSigned(end: ByteOffset, cutBytes: number): Promise<void> {
    const log = this.#parts.signing?.log;
    const caught = await log?.caughtUp(end, cutBytes);
    try {
      if (caught) await this.#checkpoints.turns.catchUp(caught, end);
    } catch (error) {
      log?.fail(error);
    }
  }

  close(): void {
    this.#parts.derived?.close();
  }
}
