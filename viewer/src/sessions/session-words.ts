/** Session words: project, usage and verdict of a session, as the list shows them. */

import type { SessionItem } from "../../../src/client/session-shapes.ts";
import { lengthOf } from "../../../src/sessions/render/phrases.ts";
import { VERDICTS, type Verdict } from "../../../src/trust/proof/verdict.ts";
import { lastName } from "../words.ts";

/** Without its owner or the directories above it. */
export function projectNameOf(key: string): string {
  return lastName(key);
}

/** Names of projects in a list: with the name above, where two would be the same. */
export function projectNames(keys: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const key of keys) {
    counts.set(projectNameOf(key), (counts.get(projectNameOf(key)) ?? 0) + 1);
  }
  return new Map(
    keys.map((key) => {
      const name = projectNameOf(key);
      const parts = key.split(/[/\\]/).filter((part) => part !== "");
      const longer = parts.slice(-2).join("/");
      return [key, (counts.get(name) ?? 0) > 1 ? longer || key : name];
    }),
  );
}

export function sessionTokens(session: SessionItem): number | null {
  const { totalTokens, inputTokens, outputTokens } = session;
  if (totalTokens !== null) return totalTokens;
  if (inputTokens === null && outputTokens === null) return null;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

export function tookOf({ durationMs }: Pick<SessionItem, "durationMs">): string | null {
  return typeof durationMs === "number" ? lengthOf(durationMs) : null;
}

/** Without the date of a release, which says nothing next to the name. */
export function shortModel(model: string): string {
  return model.replace(/-20\d{6}$|-20\d\d-\d\d-\d\d$/, "");
}

/** Verdicts that need no attention. */
const ORDINARY: readonly Verdict[] = ["verified", "unsigned"];

/** The verdict, if it is not an ordinary one. */
export function unusualVerdict({
  verdict,
  isLive,
}: Pick<SessionItem, "verdict" | "isLive">): Verdict | null {
  if (verdict === null) return null;
  const known = VERDICTS.find((each) => each === verdict) ?? "unreadable";
  // An honest session that is being written: its last lines are signed when their turn ends.
  if (ORDINARY.includes(known) || (known === "incomplete" && isLive)) return null;
  return known;
}
