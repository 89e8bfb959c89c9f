/** Proof badge: what this browser found of a session, in a word; it opens the panel. */

import { useEffect } from "preact/hooks";
import type { VerbatimClient } from "../../../src/client/client.ts";
import { type ProofStore, proofOf } from "./proof-store.ts";
import { badgeWord, SIGNS, type Tone, toneOf } from "./proof-words.ts";
import "./proof.css";

interface BadgeProps {
  readonly client: VerbatimClient;
  readonly id: string;
  /** Where the session ends now: when it grows, it is checked anew. */
  readonly end: number;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function ProofBadge({ client, id, end, isOpen, toggle }: BadgeProps) {
  const proof = proofOf(client, id);
  useEffect(() => proof.see(end), [proof, end]);
  const { tone, word } = shownOf(proof);
  return (
    <button
      type="button"
      class={`proof-badge tone-${tone}`}
      aria-expanded={isOpen}
      aria-controls="proof-panel"
      title="What your browser found of its signatures"
      onClick={toggle}
    >
      <span aria-hidden="true">{SIGNS[tone]}</span> {word}
    </button>
  );
}

function shownOf({ state, canVerify }: ProofStore): { readonly tone: Tone; readonly word: string } {
  const now = state.value;
  if (now.is === "failed") return { tone: "wait", word: "not checked" };
  if (now.is === "checking") return { tone: "plain", word: `checking ${percent(now.share)}` };
  const can = canVerify.value !== false;
  return { tone: toneOf(now.checked, can), word: badgeWord(now.checked, can) };
}

export function percent(share: number): string {
  return share === 0 ? "…" : `${Math.floor(share * 100)} %`;
}
