/**
 * Pager: loads pages of what the server knows of a session, and again when the session has grown.
 * While the server still reads the log, it asks again soon.
 */

const GROWN_MS = 500;
const AGAIN_MS = 150;
const FAILED_MS = 5_000;

interface Page {
  readonly next: number | null;
  readonly isComplete: boolean;
}

export class Pager {
  readonly #signal: AbortSignal;
  readonly #first: () => number;
  readonly #load: (from: number) => Promise<Page>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLoading = false;
  #isWanted = false;

  /** `first`: the offset from which pages may have changed. */
  constructor(signal: AbortSignal, first: () => number, load: (from: number) => Promise<Page>) {
    this.#signal = signal;
    this.#first = first;
    this.#load = load;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** The session has changed, or was opened: loads what is new. */
  refresh(inMs = GROWN_MS): void {
    this.#isWanted = true;
    if (this.#isLoading) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#loadAll();
    }, inMs);
  }

  async #loadAll(): Promise<void> {
    this.#isLoading = true;
    this.#isWanted = false;
    let waitMs: number | null = null;
    try {
      let from: number | null = this.#first();
      while (from !== null && !this.#signal.aborted) {
        const page: Page = await this.#load(from);
        if (page.next === null && !page.isComplete) waitMs = AGAIN_MS;
        from = page.next;
      }
    } catch {
      waitMs = FAILED_MS; // The page itself shows when the server is gone.
    } finally {
      this.#isLoading = false;
    }
    if (this.#signal.aborted) return;
    if (waitMs !== null) this.refresh(waitMs);
    else if (this.#isWanted) this.refresh();
  }
}
