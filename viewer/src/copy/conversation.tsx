/**
 * Conversation: the entries of a copy, as the transcript of a session shows them, and below each row
 * what is withheld in it. What is withheld is in elements of our own, which no text can imitate.
 */

import { Component, type ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EntryItem } from "../../../src/client/session-shapes.ts";
import { isUsageRepeated } from "../../../src/core/model/usage-once.ts";
import type { PageLinks } from "../../../src/sessions/render/html/entry-html.ts";
import type { Why } from "../../../src/trust/proof/disclosure/records.ts";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import { BARE_ROW, EntryRow, LoadedCalls } from "../session/entry-row.tsx";
import { watchCode } from "../session/highlight.ts";
import { countText } from "../words.ts";
import { Withheld } from "./withheld.tsx";

const ROWS_SHOWN = 200;
/** The page is about one copy: an entry has no address of its own. */
const LINKS: PageLinks = { toEntry: () => location.hash, toSession: () => null };

/** Something that is not shown of a line. */
export interface WithheldNote {
  readonly what: "string" | "line";
  readonly length: number | null;
  readonly because: Why | null;
}

export interface CopyEntry {
  /** Null: the whole line is withheld. */
  readonly item: EntryItem | null;
  readonly note?: string | undefined;
  readonly withheld: readonly WithheldNote[];
}

interface ConversationProps {
  readonly entries: readonly CopyEntry[];
  readonly reasons: readonly Reason[];
}

export function Conversation(props: ConversationProps) {
  return (
    <Fallible>
      <Rows {...props} />
    </Fallible>
  );
}

function Rows({ entries, reasons }: ConversationProps) {
  const [count, show] = useState(ROWS_SHOWN);
  const place = useRef<HTMLDivElement>(null);
  const items = useMemo(() => entries.flatMap(({ item }) => item ?? []), [entries]);
  const calls = useMemo(() => new LoadedCalls(items), [items]);
  const said = useMemo(() => items.map(({ entry }) => entry), [items]);
  const orderOf = useMemo(() => new Map(items.map((item, n) => [item, n])), [items]);
  useLayoutEffect(() => {
    if (place.current) watchCode(place.current);
  }, [count, entries]);
  const rest = entries.length - count;
  return (
    <>
      <div class="copy-conversation" ref={place}>
        {entries.slice(0, count).map(({ item, withheld, note }, n) => (
          <div key={n} class="copy-entry">
            {note && <p class="copy-note">{note}</p>}
            {item !== null && (
              <EntryRow
                item={item}
                calls={calls}
                pairing={calls.pairingOf(item)}
                links={LINKS}
                project={null}
                isUsageRepeated={isUsageRepeated(said, orderOf.get(item) ?? 0)}
                mount={() => null}
                {...BARE_ROW}
              />
            )}
            {withheld.map((note, nth) => (
              <Withheld key={nth} {...note} reasons={reasons} />
            ))}
          </div>
        ))}
      </div>
      {rest > 0 && (
        <button type="button" onClick={() => show(count + ROWS_SHOWN)}>
          Show more: {countText(rest, "line")} left
        </button>
      )}
    </>
  );
}

/** A copy is a stranger's: an entry of another shape than ours does not break the page. */
class Fallible extends Component<{ readonly children: ComponentChildren }, { fails: boolean }> {
  static override getDerivedStateFromError() {
    return { fails: true };
  }

  override render() {
    if (!this.state.fails) return this.props.children;
    return <p role="alert">This copy has entries that cannot be shown.</p>;
  }
}
