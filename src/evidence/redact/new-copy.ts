/** New copy: the file of a copy while it is written. */

import { randomUUID } from "node:crypto";
import { basename, dirname } from "node:path";
import { errnoOf, ioError } from "../../core/base/errors.ts";
import { writeAll } from "../../core/base/file-steps.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";

/** A file that gets its name only when it is kept. Mode 0600, like all our files. */
export class NewCopy {
  readonly path: string;
  readonly #exists: (path: string) => Error;
  readonly #directory: Directory;
  readonly #temporary: string;
  readonly #file: OpenFile;
  #isKept = false;

  private constructor(path: string, directory: Directory, exists: (path: string) => Error) {
    this.path = path;
    this.#exists = exists;
    this.#directory = directory;
    this.#temporary = `.${basename(path).slice(0, 100)}.${randomUUID()}.tmp`;
    this.#file = directory.open(this.#temporary, "new");
  }

  /** `exists`: the error if a file with its name is there when it is kept. */
  static async create(host: Host, path: string, exists: (path: string) => Error): Promise<NewCopy> {
    try {
      const directory = await host.files.openDirectory(dirname(path), { create: false });
      return new NewCopy(path, directory, exists);
    } catch (cause) {
      throw ioError(path, "writing", cause);
    }
  }

  write(bytes: Uint8Array): void {
    writeAll(this.#file, bytes);
  }

  /** Durable when it resolves; never replaces a file. */
  async keep(): Promise<void> {
    const name = basename(this.path);
    try {
      await this.#file.sync();
      this.#directory.open(name, "new").close(); // Takes the name, or fails.
      this.#directory.rename(this.#temporary, name);
      this.#isKept = true;
      await this.#directory.sync();
    } catch (cause) {
      const { path } = this;
      throw errnoOf(cause) === "EEXIST" ? this.#exists(path) : ioError(path, "writing", cause);
    }
  }

  /** Call at the end: removes what was not kept. */
  discard(): void {
    this.#file.close();
    if (!this.#isKept) this.#directory.remove(this.#temporary);
    this.#directory.close();
  }
}
