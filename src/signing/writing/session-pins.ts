/** Session pins: where the heads of one session are pinned, and what is pinned already. */

import type { Heads, RememberedHead, RootNames } from "../heads/heads.ts";
import type { Head } from "./signer-state.ts";

export interface SessionPins {
  remembered(): Promise<RememberedHead>;
  pin(head: Head): void;
}

/** `namesOf` says what its store is called in pins. It is asked once the log is there. */
export function sessionPins(
  heads: Heads,
  id: string,
  namesOf: () => Promise<RootNames>,
): SessionPins {
  let place = "";
  return {
    async remembered() {
      const names = await namesOf();
      place = names.place;
      return heads.remembered({ place, id, names });
    },
    pin(head) {
      heads.pin({ ...head, place, id }, "signed");
    },
  };
}
