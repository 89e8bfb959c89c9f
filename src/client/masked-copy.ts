/**
 * Masked copy: what is shared of a session that is not signed: its entries, with what was found in
 * them masked, and no proof. Format: docs/formats/share.md, "Masked copies".
 *
 * MC1  A masked copy begins with another record than a disclosed copy, and nothing in it is taken for
 *      a verdict, a key or a signature: it is shown as not provable, whatever is in it.
 */

import type { EntryItem } from "./session-shapes.ts";

export const MASKED_HEADER = '{"verbatim":"masked-copy","v":1}';

/** Shown in place of a line. */
export interface MaskedAway {
  readonly rule: string;
  readonly reason: string;
}

/** A line of the session. Its `start` is its number, because offsets would tell lengths. */
export interface MaskedItem extends EntryItem {
  /** Why the line is not shown; null: it is. */
  readonly withheld: MaskedAway | null;
}

/** The last line of a masked copy. */
export interface MaskedEnd {
  /** Lines of the session that are not checkpoints; how many are unchanged. */
  readonly lines: number;
  readonly full: number;
  /** By rule: values that are masked, strings that are left out, lines that are not shown. */
  readonly withheld: readonly MaskedCount[];
}

export interface MaskedCount {
  readonly rule: string;
  readonly reason: string;
  readonly lines: number;
  readonly strings: number;
}

export interface MaskedCopy extends MaskedEnd {
  readonly items: readonly MaskedItem[];
}
