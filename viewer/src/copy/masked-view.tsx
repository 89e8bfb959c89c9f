/** Masked view: a copy of a session that is not signed. It has one verdict, whatever is in it. */

import { useMemo } from "preact/hooks";
import type { MaskedCopy } from "../../../src/client/masked-copy.ts";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import { countText } from "../words.ts";
import { Conversation, type CopyEntry } from "./conversation.tsx";
import { VerdictChip } from "./verdict-chip.tsx";
import { WithheldReasons } from "./withheld.tsx";

export const NOT_PROVABLE = "not provable: this copy is masked and was not signed";

export function MaskedView({ copy }: { readonly copy: MaskedCopy }) {
  const { lines, full, withheld } = copy;
  const [entries, reasons] = useMemo(() => entriesOf(copy), [copy]);
  return (
    <>
      <VerdictChip tone="plain" text={NOT_PROVABLE}>
        <p>
          No signature says that these are the words of the session: anyone can write such a copy.
          Of a signed session, a copy can be made that your browser checks.
        </p>
        <dl>
          <dt>As the copy says</dt>
          <dd>
            {full} of {countText(lines, "line")} as they are
          </dd>
          <dt>Masked</dt>
          <dd>
            <WithheldReasons withheld={withheld} />
          </dd>
        </dl>
      </VerdictChip>
      <Conversation entries={entries} reasons={reasons} />
    </>
  );
}

/** A line that is not shown has a reason of its own. */
function entriesOf({ items }: MaskedCopy): [CopyEntry[], Reason[]] {
  const reasons: Reason[] = [];
  const entries = items.map((item): CopyEntry => {
    if (!item.withheld) return { item, withheld: [] };
    const { rule, reason } = item.withheld;
    const because = { why: reasons.length, mask: null };
    reasons.push({ rule: String(rule), reason: String(reason), lines: 1, strings: 0 });
    return { item: null, withheld: [{ what: "line", length: null, because }] };
  });
  return [entries, reasons];
}
