/**
 * Proof banner: across the page, only when a session is not what was signed: what is wrong, where,
 * and what to do, for a reader who has to act on it.
 */

import type { VerbatimClient } from "../../../src/client/client.ts";
import { groupDigits } from "../../../src/sessions/render/phrases.ts";
import { sessionHref } from "../route.ts";
import type { AlteredRange } from "./checked.ts";
import { Advice } from "./proof-panel.tsx";
import { proofOf } from "./proof-store.ts";
import "./proof.css";

interface BannerProps {
  readonly client: VerbatimClient;
  readonly id: string;
  /** The panel is open: it says the same and more. */
  readonly isPanelShown: boolean;
  /** Opens the panel with all findings. */
  readonly details: () => void;
  /** Jumps to an entry, also when the address is the same already. */
  readonly show: (start: number) => void;
}

/** Whether something is wrong: then nothing next to it looks as if all were well. */
export function isProofBad(client: VerbatimClient, id: string): boolean {
  return proofOf(client, id).badge.value.tone === "bad";
}

export function ProofBanner({ client, id, isPanelShown, details, show }: BannerProps) {
  const proof = proofOf(client, id);
  const { tone, word, sentence, advice } = proof.badge.value;
  const browser = proof.browser.value;
  const altered = browser.is === "checked" ? browser.checked.altered : [];
  const [first] = altered;
  return (
    <div role="alert" class="proof-banner-place">
      {tone === "bad" && !isPanelShown && (
        <div class="proof-banner">
          <p class="proof-banner-what">
            <strong>✕ {capital(word)}.</strong> {sentence}
          </p>
          {first !== undefined && (
            <p>
              <b>Where:</b> {placeOf(first, altered.length)}{" "}
              <a href={sessionHref(id, first.from)} onClick={() => show(first.from)}>
                Show the place
              </a>
            </p>
          )}
          {advice !== null && (
            <div class="proof-banner-do">
              <b>What to do:</b> <Advice text={advice} />
            </div>
          )}
          <button type="button" onClick={details}>
            All findings
          </button>
        </div>
      )}
    </div>
  );
}

function placeOf({ from, to, turn }: AlteredRange, count: number): string {
  const where = turn === null ? "" : `turn ${turn}, `;
  const more = count > 1 ? `, and ${count - 1} more places` : "";
  return `${where}bytes ${groupDigits(from)} to ${groupDigits(to)}${more}.`;
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
