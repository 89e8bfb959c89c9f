/**
 * Signed lines: what a copy or a proof shows of a log, as a conversation; the lines themselves, with
 * checkpoints and in their own bytes, are folded below it.
 */

import { useState } from "preact/hooks";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import type { Verdict } from "../../../src/trust/proof/verdict.ts";
import { Conversation, type CopyEntry } from "./conversation.tsx";
import { CopyLine } from "./copy-line.tsx";
import type { CopyRow } from "./judge-copy.ts";

const LINES_SHOWN = 200;
const UNSOUND = "This copy is not part of what was signed. Do not rely on anything in it.";

interface SignedLinesProps {
  readonly verdict: Verdict;
  readonly rows: readonly CopyRow[];
  /** Null: it is not a conversation. */
  readonly entries: readonly CopyEntry[] | null;
  readonly reasons: readonly Reason[];
}

export function SignedLines({ verdict, rows, entries, reasons }: SignedLinesProps) {
  const [isUnfolded, unfold] = useState(entries === null);
  const [count, show] = useState(LINES_SHOWN);
  const isSound = verdict !== "tampered" && verdict !== "unreadable";
  if (rows.length === 0) return null;
  return (
    <section aria-label="Conversation" class={isSound ? "" : "copy-unsound"}>
      {!isSound && <p class="copy-warning">{UNSOUND}</p>}
      {entries !== null && <Conversation entries={entries} reasons={reasons} />}
      <details
        class="copy-all-lines"
        open={isUnfolded}
        onToggle={({ currentTarget }) => unfold(currentTarget.open)}
      >
        <summary>
          {isSound ? "Lines, as they were signed" : "Lines, of which nothing is proven"}
        </summary>
        {isUnfolded && (
          <ol class="copy-lines">
            {rows.slice(0, count).map((row, n) => (
              <CopyLine key={n} row={row} reasons={reasons} />
            ))}
          </ol>
        )}
        {isUnfolded && rows.length > count && (
          <button type="button" onClick={() => show(count + LINES_SHOWN)}>
            Show more: {rows.length - count} left
          </button>
        )}
      </details>
    </section>
  );
}
