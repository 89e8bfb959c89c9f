/** Follower watch: the lines that a follower has delivered and not rewound. */

import type { LogReader } from "../log/reader.ts";

export class FollowerWatch {
  readonly #stop = new AbortController();
  #lines: { readonly end: number; readonly text: string }[] = [];
  #failure: unknown = null;

  constructor(reader: LogReader, onRewound: () => void) {
    this.#run(reader, onRewound).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failure = error;
    });
  }

  get texts(): string[] {
    return this.#lines.map(({ text }) => text);
  }

  get failure(): unknown {
    return this.#failure;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(reader: LogReader, onRewound: () => void): Promise<void> {
    const lines = reader.follow({
      onRewound: ({ to }) => {
        onRewound();
        this.#lines = this.#lines.filter(({ end }) => end <= to);
      },
    });
    for await (const { bytes, end } of lines) {
      if (this.#stop.signal.aborted) return;
      this.#lines.push({ end, text: Buffer.from(bytes).toString("utf8") });
    }
  }
}
