/**
 * Inspector: everything about one entry that its row leaves out: time, place, ids, usage, its proof
 * and its line of the log, byte for byte as far as a page can show it.
 *
 * It shows the chosen entry; without one, the entry being read.
 */

import { useEffect, useState } from "preact/hooks";
import type { EntryItem, EntryPage } from "../../../src/client/session-shapes.ts";
import { pageText } from "../../../src/sessions/render/html/markup.ts";
import { textPieces } from "../../../src/sessions/render/html/text-pieces.ts";
import { groupDigits, moneyOf } from "../../../src/sessions/render/phrases.ts";
import { toHex } from "../../../src/trust/proof/bytes.ts";
import { faultText } from "../fault-text.ts";
import { WebProofCrypto } from "../proof/web-crypto.ts";
import { fullTimeOf } from "../words.ts";
import { copyText } from "./copy.ts";
import { EntryNotes } from "./entry-notes.tsx";
import { ProofOfEntry } from "./entry-proof.tsx";
import { itemsOf } from "./entry-window.ts";
import type { ReadingPosition } from "./reading.ts";
import type { SessionStore } from "./session-store.ts";

/** More of a line is not shown: it would block the browser for long. */
const SHOWN_BYTES_MAX = 1024 * 1024;
/** While rows are passed by, nothing is loaded. */
const REST_MS = 200;

interface InspectorProps {
  readonly store: SessionStore;
  readonly reading: ReadingPosition;
  readonly close: () => void;
}

export function Inspector({ store, reading, close }: InspectorProps) {
  if (!store.isInspecting.value) return null;
  const window = store.window.value;
  const start = store.inspected.value ?? reading.visible.value.from;
  const item = window && itemsOf(window).find((each) => each.start === start);
  return (
    <aside class="inspector" aria-label="Inspector">
      <div class="inspector-head">
        <h2>Entry</h2>
        {store.inspected.value !== null && (
          <button
            type="button"
            class="quiet"
            title="Show the entry that is being read"
            onClick={() => {
              store.inspected.value = null;
            }}
          >
            Follow reading
          </button>
        )}
        <button type="button" class="quiet" aria-label="Close the inspector" onClick={close}>
          ✕
        </button>
      </div>
      {item ? <About store={store} item={item} /> : <p class="dim">No entry is chosen.</p>}
    </aside>
  );
}

type Facts = readonly (readonly [string, string | null])[];

const count = (value: number | null | undefined) => (value == null ? null : groupDigits(value));

function About({ store, item }: { readonly store: SessionStore; readonly item: EntryItem }) {
  const { start, end, bytes, at, fault, entry } = item;
  const line = useLine(store, item);
  const usage = entry?.usage ?? null;
  const calls = (entry?.parts ?? []).flatMap((part) => {
    return "callId" in part && part.callId !== null ? [part.callId] : [];
  });
  return (
    <div class="inspector-body">
      <FactList
        name="What it is"
        facts={[
          ["Time", at === null ? null : fullTimeOf(at)],
          ["Kind", entry === null ? `not an entry: ${fault}` : `${item.kind} ${item.role ?? ""}`],
          ["Model", entry?.model ?? null],
          ["Said by", entry?.saidBy ?? null],
          ["Stopped by", entry?.stopReason ?? null],
          ["Incomplete", entry?.isPartial ? "yes" : null],
          ["Bytes", `${groupDigits(start)} to ${groupDigits(end)} (${groupDigits(bytes)})`],
          ["Message", entry?.messageId ?? null],
          ["Call", calls.length === 0 ? null : calls.join(" ")],
        ]}
      />
      {usage !== null && (
        <FactList
          name="Usage of its message"
          facts={[
            ["Input", count(usage.inputTokens)],
            ["Output", count(usage.outputTokens)],
            ["Cache written", count(usage.cacheWriteTokens)],
            ["Cache read", count(usage.cacheReadTokens)],
            ["Total", count(usage.totalTokens)],
            ["Cost", usage.spend === null ? null : moneyOf(usage.spend)],
          ]}
        />
      )}
      <EntryNotes store={store} start={start} />
      <ProofOfEntry store={store} item={item} hash={line.hash} />
      <section>
        <h3>Line in the log</h3>
        {bytes > SHOWN_BYTES_MAX && (
          <p class="dim">The first {groupDigits(SHOWN_BYTES_MAX)} bytes</p>
        )}
        <p class="inspector-acts">
          <CopyButton name="Copy line" text={line.text} />
          <CopyButton
            name="Copy link"
            text={`${location.href.split("#")[0]}${store.hrefOf(start)}`}
          />
        </p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrollable by keys. */}
        <pre tabIndex={0}>
          {textPieces(line.text).map((piece) => (
            <span class="piece">{piece}</span>
          ))}
        </pre>
      </section>
    </div>
  );
}

function FactList({ name, facts }: { readonly name: string; readonly facts: Facts }) {
  return (
    <section>
      <h3>{name}</h3>
      <dl>
        {facts.map(([label, value]) =>
          value === null ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{pageText(value)}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

function CopyButton({ name, text }: { readonly name: string; readonly text: string }) {
  const [told, tell] = useState<string | null>(null);
  const copy = () => {
    copyText(text).then(
      () => tell("Copied"),
      () => tell("No clipboard"),
    );
    setTimeout(() => tell(null), 1200);
  };
  return (
    <button type="button" onClick={copy}>
      {told ?? name}
    </button>
  );
}

interface Line {
  readonly text: string;
  /** SHA-256 of the whole line without its LF; null until it is known, or if it is too long. */
  readonly hash: string | null;
}

function useLine(
  { client, id }: SessionStore,
  { start, end }: Pick<EntryPage["entries"][0], "start" | "end">,
): Line {
  const [line, setLine] = useState<Line & { readonly start: number }>({
    start: -1,
    text: "…",
    hash: null,
  });
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      const to = Math.min(end, start + SHOWN_BYTES_MAX);
      client.sessions.bytes(id, { from: start, to }).then(
        ({ bytes }) => {
          if (isOver) return;
          const own = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
          const text = pageText(new TextDecoder().decode(own));
          const hash = to < end ? null : toHex(new WebProofCrypto().sha256(own));
          setLine({ start, text, hash });
        },
        (cause) => {
          if (!isOver) setLine({ start, text: faultText(cause), hash: null });
        },
      );
    }, REST_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, id, start, end]);
  return line.start === start ? line : { text: "…", hash: null };
}
