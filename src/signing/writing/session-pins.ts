/** Session pins: where the heads of one session are pinned, and its existing pin. */

import type { Heads, RememberedHead, RootNames } from "../heads/heads.ts";
import type { Head } from "./signer-state.ts";

export interface SessionPins {
  remembered(): Promise<RememberedHead>;
  pin(head: Head): void;
}

/** `namesOf` returns the names of its store in pins. It is called once the log exists. */
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
