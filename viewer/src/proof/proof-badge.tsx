/** Proof badge: the worse verdict of this browser and the server, in a word; opens the panel. */

import { useEffect } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import { proofOf } from "./proof-store.ts";
import { SIGNS } from "./proof-words.ts";
import "./proof.css";

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
      <span aria-hidden="true">{SIGNS[tone]}</span> {word}
    </button>
  );
}
