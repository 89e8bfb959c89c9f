/** Copy line: one line of the log, as its fields and as its own bytes. */

import { useState } from "preact/hooks";
import { exactJson } from "../../../src/core/base/print-json.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import { clockOf, fullTimeOf, sizeOf } from "../words.ts";
import { gapMarked, headOf, piecesOf, valueIn } from "./copy-text.ts";
import type { CopyRow } from "./judge-copy.ts";
import { Withheld } from "./withheld.tsx";

/** Longer lines and texts are shown on demand. */
const LINE_BYTES_SHOWN = 256 * 1024;
const TEXT_CHARS_SHOWN = 4_000;
const TEXT_CHARS_BEGIN = 600;
/** JSON below this level is shown as its text. */
const DEPTH_MAX = 12;
const ITEMS_SHOWN = 200;

const NAMES = {
  line: "",
  withheld: "",
  bytes: "Bytes",
  genesis: "First checkpoint",
  checkpoint: "Checkpoint",
} as const;

interface LineProps {
  readonly row: CopyRow;
  readonly reasons: readonly Reason[];
}

export function CopyLine({ row, reasons }: LineProps) {
  const { is, bytes, gaps, because, number } = row;
  const [isAsked, ask] = useState(false);
  const isLong = bytes !== null && bytes.length > LINE_BYTES_SHOWN && !isAsked;
  const value = bytes === null || isLong || is === "bytes" ? undefined : valueIn(bytes, gaps);
  const { speaker, at } = headOf(value, gaps);
  const isSigning = is === "genesis" || is === "checkpoint";
  return (
    <li class={`copy-line copy-${is}`}>
      <p class="copy-line-head">
        {number !== null && <span class="mono">{number}</span>}
        <strong>{NAMES[is] || pageText(speaker ?? "")}</strong>
        {at !== null && (
          <time dateTime={at} title={fullTimeOf(at)}>
            {clockOf(at)}
          </time>
        )}
      </p>
      {is === "withheld" && (
        <Withheld what="line" length={null} because={because} reasons={reasons} />
      )}
      {is === "genesis" && bytes === null && (
        <p class="copy-note">It is left out: the redactor states what it says.</p>
      )}
      {isLong && (
        <button type="button" onClick={() => ask(true)}>
          Show this line ({sizeOf(bytes.length)})
        </button>
      )}
      {bytes !== null && !isLong && isSigning && (
        <details>
          <summary>{is === "genesis" ? "Begins the signatures" : "Signs the lines above"}</summary>
          <Raw row={row} reasons={reasons} />
        </details>
      )}
      {bytes !== null && !isLong && !isSigning && value !== undefined && (
        <>
          <TopFields value={value} row={row} reasons={reasons} />
          <details class="copy-raw">
            <summary>Its bytes</summary>
            <Raw row={row} reasons={reasons} />
          </details>
        </>
      )}
      {bytes !== null && !isLong && !isSigning && value === undefined && (
        <Raw row={row} reasons={reasons} />
      )}
    </li>
  );
}

function Raw({ row: { bytes, gaps }, reasons }: LineProps) {
  return (
    <div class="copy-bytes mono">
      {piecesOf(bytes ?? new Uint8Array(0), gaps).map((piece, n) =>
        "text" in piece ? (
          <span key={n}>{pageText(piece.text)}</span>
        ) : (
          <Withheld
            key={n}
            what="string"
            length={piece.gap.length}
            because={piece.gap.because}
            reasons={reasons}
          />
        ),
      )}
    </div>
  );
}

const TEXTS = new Set(["text", "content", "message", "output", "input", "error", "result"]);
const SHORT_CHARS_MAX = 64;

/** Ids, times and the like in one row, then what was said. */
function TopFields({ value, ...line }: LineProps & { readonly value: unknown }) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return <Value value={value} depth={0} {...line} />;
  }
  const fields = Object.entries(value);
  const isShort = ([key, each]: [string, unknown]) => {
    const isScalar = typeof each !== "object" && String(each).length <= SHORT_CHARS_MAX;
    return isScalar && !TEXTS.has(key) && !gapMarked(key, line.row.gaps);
  };
  const [short, rest] = [fields.filter(isShort), fields.filter((field) => !isShort(field))];
  return (
    <>
      {short.length > 0 && (
        <p class="copy-short">
          {short.slice(0, ITEMS_SHOWN).map(([key, each]) => (
            <span key={key}>
              {pageText(key)}: {pageText(String(each))}
            </span>
          ))}
        </p>
      )}
      {rest.length > 0 && <Value value={Object.fromEntries(rest)} depth={0} {...line} />}
    </>
  );
}

interface ValueProps extends LineProps {
  readonly value: unknown;
  readonly depth: number;
}

function Value({ value, depth, ...line }: ValueProps) {
  if (typeof value === "string") return <Text text={value} {...line} />;
  if (typeof value !== "object" || value === null) return <code>{String(value)}</code>;
  if (depth >= DEPTH_MAX) return <code>{pageText(exactJson(value))}</code>;
  const fields = Object.entries(value);
  if (fields.length === 0) return <code>{Array.isArray(value) ? "[]" : "{}"}</code>;
  return (
    <dl class="copy-fields">
      {fields.slice(0, ITEMS_SHOWN).map(([key, each]) => (
        <div key={key}>
          <dt>
            <Text text={key} {...line} />
          </dt>
          <dd>
            <Value value={each} depth={depth + 1} {...line} />
          </dd>
        </div>
      ))}
      {fields.length > ITEMS_SHOWN && (
        <div>
          <dt>…</dt>
          <dd>{fields.length - ITEMS_SHOWN} more: see its bytes</dd>
        </div>
      )}
    </dl>
  );
}

function Text({ text, row, reasons }: LineProps & { readonly text: string }) {
  const gap = gapMarked(text, row.gaps);
  if (gap) {
    const { length, because } = gap;
    return <Withheld what="string" length={length} because={because} reasons={reasons} />;
  }
  if (text.length <= TEXT_CHARS_SHOWN) return <span class="copy-text">{pageText(text)}</span>;
  return (
    <details>
      <summary class="copy-text">{pageText(text.slice(0, TEXT_CHARS_BEGIN))} …</summary>
      <span class="copy-text">{pageText(text)}</span>
    </details>
  );
}
