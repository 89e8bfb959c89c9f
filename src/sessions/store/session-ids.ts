/**
 * Session ids: gives a new session its id while other processes may want the same one.
 *
 * A process wins an id by creating what only one process can create: the session's directory, or
 * its log.
 *
 * Own directory: `<root>/.verbatim`, which holds our sessions in a project. It is created with a
 * `.gitignore` of `*`, so that transcripts are not committed by accident. An existing directory is
 * left unchanged: its owner may want it in Git.
 */

import { randomUUID } from "node:crypto";
import { basename, dirname, join, relative } from "node:path";
import { errnoOf, ioError, VerbatimError } from "../../core/base/errors.ts";
import type { Host } from "../../core/base/host.ts";
import type { NewIds } from "../../dialects/facets/writing.ts";

const NAME = ".verbatim";
const IGNORE_ALL = Buffer.from("*\n");

interface Where {
  readonly newIds: NewIds | undefined;
  readonly root: string;
  readonly pathOf: (id: string) => string;
}

export class SessionIds {
  readonly #host: Host;
  readonly #where: Where;
  /** In dialects whose ids name a second: each agent's last second, to avoid retries. */
  readonly #lastSeconds = new Map<string, number>();

  constructor(host: Host, where: Where) {
    this.#host = host;
    this.#where = where;
  }

  /** A new id. `wait`: where ids name a second, never takes a second that is still to come. */
  async winNew(agent: string | null, wait: boolean): Promise<string> {
    const { newIds } = this.#where;
    if (newIds?.isOfSecond) return wait ? this.winSecond(agent, true) : this.#winNext(agent);
    const id = newIds?.make(agent, Date.now(), randomUUID()) ?? randomUUID();
    await this.win(id);
    return id;
  }

  /** The id of this second, or of the next free one, without waiting for it. */
  async #winNext(agent: string | null): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const key = agent ?? "";
    while (true) {
      // Read each time: other calls in this process take seconds meanwhile.
      const second = Math.max(now, (this.#lastSeconds.get(key) ?? 0) + 1);
      this.#lastSeconds.set(key, second);
      const id = this.#idAt(agent, second * 1000);
      if (await this.win(id)) return id;
    }
  }

  /** This second's id or, with `wait`, a later one's. */
  async winSecond(agent: string | null, wait: boolean): Promise<string> {
    while (true) {
      const nowMs = Date.now();
      const id = this.#idAt(agent, nowMs);
      if (await this.win(id)) return id;
      if (!wait) throw sessionExists(id);
      await this.#host.clock.sleep(1000 - (nowMs % 1000));
    }
  }

  #idAt(agent: string | null, nowMs: number): string {
    return this.#where.newIds?.make(agent, nowMs, "") ?? "";
  }

  /** Creates what only one process can create: the session's directory, or its log. */
  async win(id: string): Promise<boolean> {
    const path = this.#where.pathOf(id);
    try {
      return await this.#make(path);
    } catch (cause) {
      throw ioError(path, "making", cause);
    }
  }

  async #make(path: string): Promise<boolean> {
    const { files } = this.#host;
    const { root, newIds } = this.#where;
    if (newIds?.claimsDirectory) {
      await files.openDirectory(root, { create: true }).then((root) => root.close());
      return files.makeDirectory(dirname(path), { root: root });
    }
    await makeOwnDirectory(this.#host, root, relative(root, path));
    const directory = await files.openDirectory(dirname(path), { create: true, root: root });
    try {
      directory.open(basename(path), "new").close();
      return true;
    } catch (cause) {
      if (errnoOf(cause) === "EEXIST") return false;
      throw cause;
    } finally {
      directory.close();
    }
  }
}

export function sessionExists(id: string): VerbatimError {
  return new VerbatimError(
    "SESSION_EXISTS",
    `the session ${id} is there already; open it to go on, or choose another id`,
    { session: id },
  );
}

/** `logId`: path below the root of a log that will be created. */
export async function makeOwnDirectory({ files }: Host, root: string, logId: string) {
  if (!logId.startsWith(`${NAME}/`)) return;
  const path = join(root, NAME);
  try {
    await files.openDirectory(root, { create: true }).then((directory) => directory.close());
    if (!(await files.makeDirectory(path, { root }))) return;
    const directory = await files.openDirectory(path, { create: false, root });
    try {
      const file = directory.open(".gitignore", "append");
      file.write(IGNORE_ALL);
      file.close();
    } finally {
      directory.close();
    }
  } catch (cause) {
    throw ioError(path, "making", cause);
  }
}
