/**
 * Bundle writer: writes members one after another into a file, and records each member's length and
 * hash.
 *
 * A member's length is known only at its end; then its header is written, in the space left for it.
 */

import { createHash } from "node:crypto";
import { VerbatimError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { OpenFile } from "../../core/base/files.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { isDerived, MANIFEST } from "./member-names.ts";
import { BLOCK_BYTES, END_BYTES, memberHeader, paddingAfter } from "./tar.ts";

/** A member as the manifest lists it. */
export interface ListedMember {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Made from the log for people; never read back. */
  readonly derived: boolean;
}

export class BundleWriter {
  readonly #file: OpenFile;
  readonly #members: ListedMember[] = [];
  #end = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** The files written so far. */
  get members(): readonly ListedMember[] {
    return this.#members;
  }

  /** The end of the file so far. */
  get end(): number {
    return this.#end;
  }

  /** Adds a member whose content is known. */
  add(name: string, content: Uint8Array | string): void {
    const member = this.begin(name);
    member.write(typeof content === "string" ? Buffer.from(content) : content);
    member.end();
  }

  /** Adds a member whose length is not known yet; end it before the next. */
  begin(name: string): { write(bytes: Uint8Array): void; end(): void } {
    const { membersMax } = BUNDLE_LIMITS;
    if (this.#members.length >= membersMax && name !== MANIFEST) throw tooMany(membersMax);
    const start = this.#end;
    const hash = createHash("sha256");
    let bytes = 0;
    this.#end += BLOCK_BYTES;
    return {
      write: (piece) => {
        hash.update(piece);
        bytes += piece.length;
        this.#put(piece);
      },
      end: () => {
        const header = memberHeader(name, bytes);
        writeAll(this.#file, header, start);
        this.#put(new Uint8Array(paddingAfter(bytes)));
        const derived = isDerived(name);
        this.#members.push({ name, bytes, sha256: hash.digest("hex"), derived });
      },
    };
  }

  /** Ends the file. */
  finish(): void {
    this.#put(new Uint8Array(END_BYTES));
  }

  #put(bytes: Uint8Array): void {
    writeAll(this.#file, bytes, this.#end);
    this.#end += bytes.length;
  }
}

function tooMany(bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BUNDLE_TOO_LARGE",
    `the session has more files than the ${bytesMax} that a bundle holds; copy them by other means, ` +
      "and verify them there",
    { path: MANIFEST, bytes: bytesMax + 1, bytesMax },
  );
}
