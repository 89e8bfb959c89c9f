/** Open directories: those below a root that a batch needs, each opened once. */

import { dirname, join } from "node:path";
import type { Directory } from "../base/files.ts";
import type { Host } from "../base/host.ts";

export class OpenDirectories {
  readonly #host: Host;
  readonly #options: { readonly create: boolean; readonly root: string };
  readonly #opened = new Map<string, Directory>();

  constructor(host: Host, root: string, { create }: { readonly create: boolean }) {
    this.#host = host;
    this.#options = { create, root };
  }

  /** The directory of a path below the root. */
  async of(path: string): Promise<Directory> {
    const below = dirname(path);
    const known = this.#opened.get(below);
    if (known) return known;
    const { files } = this.#host;
    const directory = await files.openDirectory(join(this.#options.root, below), this.#options);
    this.#opened.set(below, directory);
    return directory;
  }

  close(): void {
    for (const directory of this.#opened.values()) directory.close();
  }
}
