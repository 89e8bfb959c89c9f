/** Withheld: a block in place of what is not shown; the redactor's own wording looks different. */

import { pageText } from "../../../src/sessions/render/html/markup.ts";
import type { Why } from "../../../src/trust/proof/disclosure/records.ts";
import type { Reason } from "../../../src/trust/proof/disclosure/statement.ts";
import { countText } from "../words.ts";

interface WithheldProps {
  readonly what: "string" | "line";
  /** In bytes; null where the copy does not say it. */
  readonly length: number | null;
  readonly because: Why | null;
  readonly reasons: readonly Reason[];
}

export function Withheld({ what, length, because, reasons }: WithheldProps) {
  const reason = because && reasons[because.why];
  const size = length === null ? "" : `, ${countText(length, "byte")}`;
  return (
    <span class="withheld">
      <strong>
        {what === "line" ? "Line withheld" : "Withheld"}
        {size}
      </strong>
      {because === null ? (
        <span>always, because it would reveal what is withheld elsewhere</span>
      ) : (
        <span>
          rule <code>{pageText(reason?.rule ?? "unknown")}</code>; reason:{" "}
          {pageText(reason?.reason ?? "not stated")}
        </span>
      )}
      {because !== null && because.mask !== null && (
        <span class="withheld-mask">
          <em>The redactor's wording, which proves nothing:</em> {pageText(because.mask)}
        </span>
      )}
    </span>
  );
}

/** How much is withheld, by rule and reason. */
export function WithheldReasons({ withheld }: { readonly withheld: readonly Reason[] }) {
  if (withheld.length === 0) return <>nothing</>;
  return (
    <>
      {withheld.map(({ rule, reason, lines, strings }, n) => (
        <div key={n}>
          {countText(lines, "line")}, {countText(strings, "string")}: rule{" "}
          <code>{pageText(rule)}</code>; reason: {pageText(reason)}
        </div>
      ))}
    </>
  );
}
