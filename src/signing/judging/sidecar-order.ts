/** Sidecar order: the kind of each line of a sidecar, which depends on the lines before it. */

import type { Claim } from "../../proof/claims.ts";

/** `torn`: left by a power cut. `foreign`: does not belong in a sidecar. */
export type SidecarLineKind = "checkpoint" | "newer" | "torn" | "foreign";

export class SidecarOrder {
  #hasTorn = false;
  #hasForeign = false;

  /** The kind of the next line, from its claim (proof/claims.ts) and whether it contains NULs. */
  kindOf(claim: Claim["is"] | null, hasNul: boolean): SidecarLineKind {
    if (claim === "checkpoint" && !this.#hasTorn) return claim;
    // A power cut leaves NULs for bytes that were never written, but only at the very end.
    if (hasNul && !this.#hasForeign) {
      this.#hasTorn = true;
      return "torn";
    }
    if (claim === "newer") return claim;
    this.#hasForeign = true;
    return "foreign";
  }
}
