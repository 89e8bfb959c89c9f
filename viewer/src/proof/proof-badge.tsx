/** Proof badge: the worse verdict of this browser and the server, in a word; opens the panel. */

import { useEffect } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import { proofOf } from "./proof-store.ts";
import { SIGNS, type Tone } from "./proof-words.ts";
import "./proof.css";

/** The sign is in the shield, so that colour is not needed. */
const PATHS: Readonly<Record<Tone, string>> = {
  good: "m8.5 12 2.5 2.5 4.5-5",
  bad: "m9 9 6 6m0-6-6 6",
  wait: "M12 8v5m0 3v.01",
  plain: "M9 12h6",
};

export function Shield({ tone }: { readonly tone: Tone }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
      <path d="M12 3 5 6v5c0 5 3 8 7 10 4-2 7-5 7-10V6z" />
      <path d={PATHS[tone]} />
    </svg>
  );
}

interface BadgeProps {
  readonly client: VerbatimClient;
  readonly id: string;
  /** The session's current end: when it grows, it is checked again. */
  readonly end: number;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function ProofBadge({ client, id, end, isOpen, toggle }: BadgeProps) {
  const proof = proofOf(client, id);
  useEffect(() => proof.see(end), [proof, end]);
  const { tone, word, sentence } = proof.badge.value;
  return (
    <button
      type="button"
      class={`proof-badge tone-${tone}`}
      aria-expanded={isOpen}
      aria-controls="proof-panel"
      title={sentence}
      onClick={toggle}
    >
      <Shield tone={tone} />
      <span class="unseen">{SIGNS[tone]}</span> {word}
    </button>
  );
}
