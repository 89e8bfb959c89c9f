/**
 * Masked copy: the entries of a session with what is found masked, for sessions that are not signed.
 * Format: docs/formats/share.md, "Masked copies".
 *
 * - A line is masked before it is decoded, so no field of its entry can have what was masked.
 * - Of an entry, a copy has what people read: not the line itself (`native`), nor its offsets.
 */

import type { MaskedCount, MaskedItem } from "../../client/masked-copy.ts";
import { MASKED_HEADER } from "../../client/masked-copy.ts";
import type { Host } from "../../core/base/host.ts";
import { decodeLine } from "../../core/log/json.ts";
import type { Entry } from "../../core/model/entry.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { toolViews } from "../../dialects/tool-table.ts";
import { jsonText } from "../../sessions/render/text.ts";
import type { SignableLog } from "../../trust/session-log.ts";
import type { WithheldPlace } from "./copy-writer.ts";
import { type MaskOptions, plainLines } from "./plain-copy.ts";

/** A line of a session, masked: its entry, or why there is none. */
export interface MaskedEntry {
  readonly number: number;
  readonly entry: Entry | null;
  readonly fault: string | null;
  /** By which rule the line is not shown; null: it is. */
  readonly rule: string | null;
  readonly isFull: boolean;
}

/** `host` is the dialect's (`hostOf`). */
export async function* maskedEntries(
  host: Host,
  target: SignableLog,
  options: MaskOptions,
): AsyncGenerator<MaskedEntry> {
  const { reading } = dialectNamed(target.dialect);
  const memory = reading.remembers?.();
  for await (const { number, bytes, rule, isFull } of plainLines(host, target, options)) {
    if (bytes === null) {
      yield { number, entry: null, fault: null, rule, isFull };
      continue;
    }
    const { value, fault } = decodeLine(Buffer.from(bytes), 0, bytes.length);
    const decoded = fault === null ? reading.decode(value) : { entry: null, fault };
    const entry = decoded.entry && memory ? memory.read(decoded.entry) : decoded.entry;
    // Decoding may join what was apart in the line, also in one where nothing was found.
    const [hit] = entry ? options.finder(Buffer.from(shownText(entry)), 0) : [];
    if (hit) {
      options.onPlace({ line: number, what: "line", rule: hit.rule, bytes: bytes.length });
      yield { number, entry: null, fault: null, rule: hit.rule, isFull: false };
    } else yield { number, entry, fault: decoded.fault, rule: null, isFull };
  }
}

export interface MaskedCopyOptions extends MaskOptions {
  readonly reason: string;
  readonly out: (bytes: Uint8Array) => void;
}

export interface MaskedResult {
  readonly lines: number;
  readonly full: number;
  readonly withheld: readonly MaskedCount[];
}

export async function writeMaskedCopy(
  host: Host,
  target: SignableLog & { readonly id: string },
  { reason, out, onPlace, ...options }: MaskedCopyOptions,
): Promise<MaskedResult> {
  const print = (line: string) => out(Buffer.from(`${line}\n`));
  const counts = new MaskedCounts(reason);
  const mask = {
    ...options,
    onPlace(place: WithheldPlace) {
      counts.add(place);
      onPlace(place);
    },
  };
  let [lines, full] = [0, 0];
  print(MASKED_HEADER);
  for await (const masked of maskedEntries(host, target, mask)) {
    print(itemText(target, masked, ++lines, reason));
    if (masked.isFull) full++;
  }
  const end = { lines, full, withheld: counts.all };
  print(JSON.stringify({ end }));
  return end;
}

function itemText(
  { dialect, id }: SignableLog & { readonly id: string },
  { entry, fault, rule }: MaskedEntry,
  start: number,
  reason: string,
): string {
  const { reading } = dialectNamed(dialect);
  const head = {
    start,
    end: start + 1,
    bytes: 0,
    kind: entry?.kind ?? "other",
    role: entry?.role ?? null,
    at: entry?.at ?? null,
    fault,
    aside: entry && (reading.asideOf?.(entry.native, id) ?? null),
    tools: toolViews(reading.tools, entry?.parts ?? []),
    results: (entry && reading.resultViews?.(entry.native)) ?? [],
    withheld: rule === null ? null : { rule, reason },
  } satisfies Omit<MaskedItem, "entry">;
  const entryText = entry === null ? "null" : shownText(entry);
  return `${JSON.stringify(head).slice(0, -1)},"entry":${entryText}}`;
}

function shownText({ native: _, ...shown }: Entry): string {
  return jsonText(shown);
}

/** How much is withheld, by rule. */
export class MaskedCounts {
  readonly #reason: string;
  readonly #byRule = new Map<string, { lines: number; strings: number }>();

  constructor(reason = "") {
    this.#reason = reason;
  }

  add({ rule, what }: WithheldPlace): void {
    const count = this.#byRule.get(rule) ?? { lines: 0, strings: 0 };
    if (what === "line") count.lines++;
    else count.strings++;
    this.#byRule.set(rule, count);
  }

  get all(): MaskedCount[] {
    return [...this.#byRule].map(([rule, count]) => ({ rule, reason: this.#reason, ...count }));
  }
}
