/**
 * Known rows: input rows whose `uuid` is already in the log. The first row with a uuid is kept
 * (docs/formats/claude.md), so later ones are counted, and those with other content are listed.
 */

import type { Io } from "../../command/command.ts";
import type { Native } from "../../dialects/dialect.ts";
import { safeLine } from "../../render/text.ts";
import type { Session } from "../../store/session.ts";

const NAMED_MAX = 10;
const UUID_CHARS_MAX = 100;

export class KnownRows {
  readonly #isSame = new WeakMap<Native, boolean>();
  readonly #named: string[] = [];
  #same = 0;
  #others = 0;

  constructor(session: Session) {
    session.onKnown = (given, isSame) => {
      this.#isSame.set(given, isSame);
      if (isSame) this.#same++;
      else if (++this.#others <= NAMED_MAX) this.#named.push(String(given.uuid));
    };
  }

  /** Field of the acknowledgement of such a row. */
  ackOf(native: Native): { readonly known?: "same" | "other" } {
    const isSame = this.#isSame.get(native);
    return isSame === undefined ? {} : { known: isSame ? "same" : "other" };
  }

  tell(io: Io): void {
    if (this.#same > 0) {
      const rows = this.#same === 1 ? "1 row was" : `${this.#same} rows were`;
      io.err(`${rows} already recorded (same uuid, same content)`);
    }
    if (this.#others === 0) return;
    const rows = this.#others === 1 ? "1 row has" : `${this.#others} rows have`;
    const named = this.#named.map((uuid) => safeLine(uuid.slice(0, UUID_CHARS_MAX))).join(", ");
    const more = this.#others - this.#named.length;
    io.err(
      `${rows} a known uuid but other content; the first one is kept: uuid ${named}` +
        (more > 0 ? ` and ${more} more` : ""),
    );
  }
}
