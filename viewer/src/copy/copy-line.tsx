/** Copy line: one line of the log in its own bytes, with what is withheld in it. */

import { useState } from "preact/hooks";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import { sizeOf } from "../words.ts";
import { piecesOf } from "./copy-text.ts";
import type { CopyRow } from "./judge-copy.ts";
import { Withheld } from "./withheld.tsx";

/** Longer lines are shown on demand. */
const LINE_BYTES_SHOWN = 256 * 1024;

const NAMES: Readonly<Record<CopyRow["is"], string>> = {
  line: "",
  withheld: "",
  bytes: "Bytes",
  genesis: "First checkpoint",
  checkpoint: "Checkpoint, which signs the lines above",
};

interface LineProps {
  readonly row: CopyRow;
  readonly reasons: readonly Reason[];
}

export function CopyLine({ row: { is, bytes, gaps, because, number, note }, reasons }: LineProps) {
  const [isAsked, ask] = useState(false);
  const isLong = bytes !== null && bytes.length > LINE_BYTES_SHOWN && !isAsked;
  return (
    <li class={`copy-line copy-${is}`}>
      <p class="copy-line-head">
        {number !== null && <span class="mono">{number}</span>}
        {NAMES[is]} {note}
      </p>
      {is === "withheld" && (
        <Withheld what="line" length={null} because={because} reasons={reasons} />
      )}
      {is === "genesis" && bytes === null && "It is left out: the redactor states what it says."}
      {isLong && (
        <button type="button" onClick={() => ask(true)}>
          Show this line ({sizeOf(bytes.length)})
        </button>
      )}
      {bytes !== null && !isLong && (
        <div class="copy-bytes mono">
          {piecesOf(bytes, gaps).map((piece, n) =>
            "text" in piece ? (
              <span key={n}>{pageText(piece.text)}</span>
            ) : (
              <Withheld key={n} what="string" {...piece.gap} reasons={reasons} />
            ),
          )}
        </div>
      )}
    </li>
  );
}
