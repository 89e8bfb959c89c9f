/**
 * Rye derived: checks that a thread's transcript.md and thread.json match its log.
 *
 * transcript.md is the log's rendering, byte for byte (markdown-file.ts). thread.json may contain
 * more than the log, and is stale where the two disagree.
 *
 * To compare, the events are applied to the stored file, as a writer does (`thread-meta.ts`): their values
 * replace the stored ones, and values only in the file stay. So another program's file, with more
 * or fewer fields, is stale only where the log contradicts it.
 *
 * `paused` and unknown statuses are not in the log, and not checked against it. An end is, and so
 * is continuing after one.
 */

import { openIfThere } from "../../../core/base/file-steps.ts";
import type { OpenFile } from "../../../core/base/files.ts";
import { readSmallFile } from "../../../core/base/replace.ts";
import { type Finding, finding, troubleOf } from "../../../core/findings/finding.ts";
import type { Entry } from "../../../core/model/entry.ts";
import {
  asideText,
  type DerivedKind,
  type DerivedLook,
  findingPlaceOf,
  type SessionInRepair,
} from "../../facets/files.ts";
import { copyAside, moveAside, replaceWith } from "../../files/aside.ts";
import { get, has, isObject } from "../../shared/fields.ts";
import { type RyeEvent, readEnvelope } from "../envelope.ts";
import {
  DOCUMENT_OPTIONS,
  isOriginalsMarkdown,
  LIVE_OPTIONS,
  readPrinted,
  renderEvent,
} from "../markdown.ts";
import { pythonJsonFile } from "../python.ts";
import { MetaRebuilder } from "../rebuild-meta.ts";
import { LOG_NAME, MARKDOWN_NAME, META_NAME } from "../thread-id.ts";
import { metaAfter, resumedMeta, type StoredThreadMeta } from "../thread-meta.ts";
import { parseTime } from "../time.ts";
import { GOES_ON, MARKDOWN_HEAD_BYTES, parseMeta } from "./derived-files.ts";
import { renderThread, threadEvents, writeThreadMeta } from "./thread-files.ts";

/** Fields that events determine, besides the status and its fields. */
const SAID_FIELDS = [
  "thread_id",
  "directive",
  "model",
  "provider",
  "thread_mode",
  "parent_thread_id",
  "inputs",
  "capabilities",
  "limits",
  "outputs",
  "cost",
];

const OUR_STATUSES = ["running", "completed", "error", "paused"];
/** Characters compared at once. */
const COMPARED_CHARS = 64 * 1024;

/** Compares a file with a text that comes in pieces, in constant memory. */
export class TextComparison {
  readonly #file: OpenFile;
  #pending = "";
  #at = 0;
  #differsAt: number | null = null;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Whether a difference was found, so the rest no longer matters. */
  get hasDiffered(): boolean {
    return this.#differsAt !== null;
  }

  /** Adds the next piece; returns a promise if it compares now. */
  add(text: string): Promise<void> | undefined {
    if (this.hasDiffered) return undefined;
    this.#pending += text;
    return this.#pending.length >= COMPARED_CHARS ? this.#compare() : undefined;
  }

  /** Offset of the first difference; null if the file is exactly the text. */
  async differsAt(): Promise<number | null> {
    if (this.#pending !== "") await this.#compare();
    const size = this.#file.size();
    if (this.#differsAt === null && size > this.#at) this.#differsAt = this.#at;
    return this.#differsAt;
  }

  async #compare(): Promise<void> {
    const expected = Buffer.from(this.#pending);
    this.#pending = "";
    const found = Buffer.alloc(expected.length);
    const count = await this.#file.read(found, this.#at);
    if (count === expected.length && found.equals(expected)) {
      this.#at += expected.length;
      return;
    }
    let same = 0;
    while (same < count && found[same] === expected[same]) same++;
    this.#differsAt = this.#at + same;
  }
}

/** A larger thread.json is corrupt: it holds about one line's worth of inputs, indented. */
const META_BYTES_MAX = 64 * 1024 * 1024;

export const ryeDerived: DerivedKind = {
  logName: LOG_NAME,
  names: [MARKDOWN_NAME, META_NAME],
  look: async (patient) => new RyeLook(patient, await readMeta(patient)),
  mend: (patient, { path }) =>
    path.endsWith(`/${META_NAME}`) ? mendMeta(patient) : mendMarkdown(patient),
};

/** State of thread.json. */
type MetaRead =
  | { readonly state: "usable"; readonly meta: StoredThreadMeta }
  | { readonly state: "missing" | "corrupt" }
  | { readonly state: "refused"; readonly error: unknown };

class RyeLook implements DerivedLook {
  readonly #patient: SessionInRepair;
  readonly #meta: MetaRead;
  readonly #replay: RyeMetaReplay | null;
  readonly #markdown: OpenFile | null;
  readonly #comparison: TextComparison | null;
  /** Comparison with the text as the document's Python writes it. */
  readonly #documents: TextComparison | null;
  /** Why transcript.md cannot be read; undefined if it can, or is missing. */
  readonly #refusal: unknown;
  #hasEvents = false;
  #hasText = false;

  constructor(patient: SessionInRepair, meta: MetaRead) {
    this.#patient = patient;
    this.#meta = meta;
    this.#replay = meta.state === "usable" ? new RyeMetaReplay(patient.id, meta.meta) : null;
    let markdown: OpenFile | null = null;
    try {
      markdown = openIfThere(patient.directory, MARKDOWN_NAME);
    } catch (cause) {
      this.#refusal = cause;
    }
    this.#markdown = markdown;
    this.#comparison = markdown && new TextComparison(markdown);
    this.#documents = markdown && new TextComparison(markdown);
  }

  add(value: unknown, _: Entry | null, line: Uint8Array): Promise<void> | undefined {
    const { event } = readEnvelope(value);
    if (!event) return undefined;
    this.#hasEvents = true;
    this.#replay?.add(event);
    return this.#compare(readPrinted(value, line).event ?? event);
  }

  #compare(event: RyeEvent): Promise<void> | undefined {
    // Missing, or known to differ: then only whether there is any text matters.
    const hasDiffered = this.#comparison?.hasDiffered !== false;
    if (this.#hasText && hasDiffered && this.#documents?.hasDiffered !== false) return undefined;
    const text = renderEvent(event, LIVE_OPTIONS);
    this.#hasText ||= text !== "";
    const comparing = this.#comparison?.add(text);
    const documents = this.#documents?.add(renderEvent(event, DOCUMENT_OPTIONS));
    return documents ? Promise.all([comparing, documents]).then(() => {}) : comparing;
  }

  async findings(): Promise<Finding[]> {
    return [await this.#markdownFinding(), this.#metaFinding()].filter((each) => each !== null);
  }

  close(): void {
    this.#markdown?.close();
  }

  async #markdownFinding(): Promise<Finding | null> {
    const at = findingPlaceOf(this.#patient, MARKDOWN_NAME);
    if (this.#refusal !== undefined) return troubleOf(at, this.#refusal);
    if (!this.#comparison) {
      // Nothing to print: a missing file makes no difference to a reader.
      if (!this.#hasText) return null;
      return finding("DERIVED_MISSING", at, `${MARKDOWN_NAME} is missing`);
    }
    const offset = await this.#comparison.differsAt();
    if (offset === null || (await this.#documents?.differsAt()) === null) return null;
    const head = Buffer.alloc(MARKDOWN_HEAD_BYTES);
    const count = (await this.#markdown?.read(head, 0)) ?? 0;
    if (isOriginalsMarkdown(head.toString("utf8", 0, count))) return null;
    const detail = `${MARKDOWN_NAME} is not the rendering of its log from byte ${offset} on`;
    return finding("DERIVED_STALE", { ...at, offset }, detail);
  }

  #metaFinding(): Finding | null {
    const at = findingPlaceOf(this.#patient, META_NAME);
    switch (this.#meta.state) {
      case "refused":
        return troubleOf(at, this.#meta.error);
      case "missing":
        // An id is claimed and a log opened before the first event.
        if (!this.#hasEvents) return null;
        return finding("DERIVED_MISSING", at, `${META_NAME} is missing`);
      case "corrupt":
        return finding("DERIVED_STALE", at, `${META_NAME} is corrupt`);
      case "usable":
        return this.#staleMeta(this.#meta.meta);
    }
  }

  #staleMeta(meta: StoredThreadMeta): Finding | null {
    const at = findingPlaceOf(this.#patient, META_NAME);
    const stale = this.#replay?.staleFields() ?? [];
    if (stale.length > 0) {
      const detail = `${META_NAME} disagrees with its log in ${stale.join(", ")}`;
      if (!isSigned(meta)) return finding("DERIVED_STALE", at, detail);
      const signed = `${detail}; it is signed, and only its signer can change it`;
      return finding("DERIVED_STALE", { ...at, mends: false }, signed);
    }
    if (meta.reconstructed !== true) return null;
    return finding("DERIVED_REBUILT", at, `${META_NAME} was rebuilt from its log`);
  }
}

async function readMeta({ directory }: SessionInRepair): Promise<MetaRead> {
  try {
    const file = openIfThere(directory, META_NAME);
    if (file === null) return { state: "missing" };
    const size = file.size();
    file.close();
    if (size > META_BYTES_MAX) return { state: "corrupt" };
    const meta = parseMeta(await readSmallFile(directory, META_NAME));
    return meta ? { state: "usable", meta } : { state: "corrupt" };
  } catch (error) {
    return { state: "refused", error };
  }
}

/** A signed file is left to a process that can sign: any change would invalidate it. */
function isSigned(meta: StoredThreadMeta): boolean {
  return Object.hasOwn(meta, "_signature");
}

async function mendMarkdown({ host, root, id, directory }: SessionInRepair): Promise<string> {
  const aside = await copyAside(directory, MARKDOWN_NAME);
  await replaceWith(directory, MARKDOWN_NAME, renderThread(host, root, id, LIVE_OPTIONS));
  return `made ${MARKDOWN_NAME} from the log${asideText(aside)}`;
}

async function mendMeta(patient: SessionInRepair): Promise<string> {
  const { host, root, id, directory } = patient;
  const found = await readMeta(patient);
  if (found.state === "refused") throw found.error;
  const stored = found.state === "usable" ? found.meta : await rebuiltMeta(patient);
  // Without an event there is nothing to rebuild from, so an unreadable file is moved aside.
  if (!stored) return `moved ${META_NAME} to ${await moveAside(directory, META_NAME)}`;
  // A rebuilt file counts the first start and any error, as in the thread-transcripts document. It
  // is mended like any other: the next check must not call repair's own output stale.
  const replay = new RyeMetaReplay(id, stored);
  for await (const event of threadEvents(host, root, id)) replay.add(event);
  const aside = await copyAside(directory, META_NAME);
  await writeThreadMeta(host, root, id, replay.mended());
  const did = found.state === "usable" ? `set ${replay.staleFields().join(", ")} of` : "rebuilt";
  return `${did} ${META_NAME} from the log${asideText(aside)}`;
}

async function rebuiltMeta({ host, root, id }: SessionInRepair): Promise<StoredThreadMeta | null> {
  const rebuilder = new MetaRebuilder(id);
  for await (const event of threadEvents(host, root, id)) rebuilder.add(event);
  return rebuilder.meta();
}

class RyeMetaReplay {
  readonly #threadId: string;
  readonly #stored: StoredThreadMeta;
  #meta: StoredThreadMeta;
  /** The log has an end: from there on it determines the status. */
  #hasEnded = false;

  constructor(threadId: string, stored: StoredThreadMeta) {
    this.#threadId = threadId;
    this.#stored = stored;
    this.#meta = stored;
  }

  add(event: RyeEvent): void {
    const { meaning } = event;
    if (meaning === "thread_complete" || meaning === "thread_error") this.#hasEnded = true;
    const meta = metaAfter(this.#threadId, this.#meta, event);
    const goesOn = meta === this.#meta && GOES_ON.has(meaning ?? "");
    this.#meta = goesOn ? resumedMeta(meta, timeOf(event)) : meta;
  }

  /** The fields in which the stored file contradicts the log. */
  staleFields(): string[] {
    const stale = SAID_FIELDS.filter((key) => !agrees(this.#stored, this.#expected(), key));
    return this.#isStatusStale() ? ["status", ...stale] : stale;
  }

  /** The stored file with the log's values for the stale fields. */
  mended(): StoredThreadMeta {
    const stale = this.staleFields();
    const { status, updated_at, error, ...fields } = this.#expected();
    const said = stale.filter((key) => has(fields, key)).map((key) => [key, fields[key]]);
    const mended = { ...this.#stored, ...Object.fromEntries(said) };
    if (!stale.includes("status")) return mended;
    const { error: _, ...withoutError } = mended;
    return { ...withoutError, status, updated_at, ...(error !== undefined && { error }) };
  }

  #expected(): StoredThreadMeta {
    return { ...this.#meta, thread_id: this.#threadId };
  }

  /** Only an end, or continuing after one, is checked. */
  #isStatusStale(): boolean {
    const { status } = this.#stored;
    if (!this.#hasEnded || !OUR_STATUSES.includes(status)) return false;
    const said = this.#meta.status;
    if (said === "running") return status === "completed" || status === "error";
    return status !== said || (said === "error" && !agrees(this.#stored, this.#meta, "error"));
  }
}

/** Whether a field of `stored` agrees with `said`. Other writers leave fields out, or add some. */
function agrees(stored: StoredThreadMeta, said: StoredThreadMeta, key: string): boolean {
  const [found, wanted] = [get(stored, key), get(said, key)];
  if (!isObject(found) || !isObject(wanted)) return isSame(found, wanted);
  return Object.keys(wanted).every((inner) => isSame(get(found, inner), get(wanted, inner)));
}

/** Compared as text: values may be nested deeper than a recursive comparison could follow. */
function isSame(found: unknown, wanted: unknown): boolean {
  if (found === undefined || wanted === undefined || found === wanted) return true;
  return pythonJsonFile(found) === pythonJsonFile(wanted);
}

function timeOf({ ts }: RyeEvent): number {
  return (ts === null ? null : parseTime(ts))?.ms ?? 0;
}
