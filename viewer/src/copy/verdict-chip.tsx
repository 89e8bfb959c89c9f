/** Verdict chip: the verdict on a copy or a proof in one line, and what it rests on behind it. */

import type { ComponentChildren } from "preact";
import { SIGNS, type Tone } from "../proof/proof-words.ts";

interface ChipProps {
  readonly tone: Tone;
  readonly text: string;
  readonly children: ComponentChildren;
}

export function VerdictChip({ tone, text, children }: ChipProps) {
  return (
    <details class="copy-verdict">
      <summary class={`copy-chip tone-${tone}`}>
        <span aria-hidden="true">{SIGNS[tone]}</span> <span role="status">{text}</span>
      </summary>
      <div class="proof-panel">{children}</div>
    </details>
  );
}
