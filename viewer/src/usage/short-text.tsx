/** Short text: for a narrow place; in words under the pointer and for screen readers. */

import type { CountedSums } from "../../../src/client/usage-shapes.ts";
import { costText, shortCost } from "../settings.ts";

interface ShortTextProps {
  readonly text: string;
  readonly words: string;
}

export function ShortText({ text, words }: ShortTextProps) {
  if (text === words) return <>{text}</>;
  return (
    <span title={words}>
      <span aria-hidden="true">{text}</span>
      <span class="unseen">{words}</span>
    </span>
  );
}

export function Cost({ sums }: { readonly sums: CountedSums }) {
  return <ShortText text={shortCost(sums)} words={costText(sums)} />;
}
