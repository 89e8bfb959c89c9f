/** Sidecar order: what each line of a sidecar is, which depends on the lines before it. */

import type { Claim } from "../../proof/claims.ts";

/** `torn`: what a power cut left. `foreign`: nothing that belongs into a sidecar. */
export type SidecarLineKind = "checkpoint" | "newer" | "torn" | "foreign";

export class SidecarOrder {
  #hasTorn = false;
  #hasForeign = false;

  /** What the next line is, by what it claims (proof/claims.ts) and whether it holds NULs. */
  kindOf(claim: Claim["is"] | null, hasNul: boolean): SidecarLineKind {
    if (claim === "checkpoint" && !this.#hasTorn) return claim;
    // A power cut leaves NULs where bytes were never written, but only at the very end.
    if (hasNul && !this.#hasForeign) {
      this.#hasTorn = true;
      return "torn";
    }
    if (claim === "newer") return claim;
    this.#hasForeign = true;
    return "foreign";
  }
}
