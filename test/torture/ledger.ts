/**
 * Ledger: what a log has promised, and whether its bytes keep it.
 *
 * Uses no code of the log: an oracle that shares the bug it looks for finds nothing.
 *
 * Promises, strongest first:
 *   durable  acknowledged with `disk`, flushed, or before the end that an open reported:
 *            there after a power cut, byte for byte, at the same offset
 *   held     acknowledged with `os`: there while the machine has power
 *   refused  because the disk is full: not there, unless a power cut undid the truncation
 *   issued   passed to `append`, not acknowledged: there complete, once and in order, or not at all
 */

interface Acknowledged {
  readonly start: number;
  readonly text: string;
  readonly writer: number;
  isDurable: boolean;
}

interface Issued {
  readonly writer: number;
  readonly order: number;
}

const NUL = "\0";

export class Ledger {
  readonly #issued = new Map<string, Issued>();
  #acknowledged: Acknowledged[] = [];
  readonly #takenBack = new Set<string>();
  /** The whole log as the last open reported it: durable from then on. */
  #reported: Buffer = Buffer.alloc(0);

  issue(text: string, writer: number): void {
    this.#issued.set(text, { writer, order: this.#issued.size });
  }

  /** `end` is what the append resolved to. */
  acknowledge(text: string, writer: number, end: number, isDurable: boolean): void {
    const start = end - Buffer.byteLength(text) - 1;
    this.#acknowledged.push({ start, text, writer, isDurable });
  }

  /** The append was refused because the disk is full, so the log is as it was before. */
  takeBack(text: string): void {
    this.#takenBack.add(text);
  }

  /** Call it when a flush or close begins, and the returned function when it has succeeded. */
  flushing(writer: number): () => void {
    const covered = this.#acknowledged.filter((line) => line.writer === writer);
    return () => {
      for (const line of covered) line.isDurable = true;
    };
  }

  powerWasCut(): void {
    this.#takenBack.clear();
    this.#acknowledged = this.#acknowledged.filter(({ isDurable }) => isDurable);
  }

  /** An open has reported these bytes as the log: they are durable from now on. */
  reported(log: Buffer): void {
    this.#reported = Buffer.from(log);
    this.#acknowledged = this.#acknowledged.filter(({ start }) => start >= log.length);
  }

  /** Broken promises about bytes at an offset. `null`: there is no file. */
  faults(log: Buffer | null): string[] {
    const bytes = log ?? Buffer.alloc(0);
    const faults: string[] = [];
    if (!bytes.subarray(0, this.#reported.length).equals(this.#reported)) {
      faults.push(`the ${this.#reported.length} bytes that an open reported are not all there`);
    }
    for (const { start, text, isDurable } of this.#acknowledged) {
      const line = Buffer.from(`${text}\n`);
      if (bytes.subarray(start, start + line.length).equals(line)) continue;
      faults.push(
        `a line acknowledged ${isDurable ? "as durable " : ""}is not at ${start}: ${text}`,
      );
    }
    return faults;
  }

  /** Broken promises about the lines of a log that was just recovered. */
  faultsOfLines(log: Buffer): string[] {
    if (log.length > 0 && log.at(-1) !== 0x0a) return ["the log does not end in LF"];
    const faults: string[] = [];
    const seen = new Set<string>();
    const orders = new Map<number, number>();
    for (const text of log.toString("utf8").split("\n").slice(0, -1)) {
      const issued = this.#issued.get(text);
      if (!issued) {
        // A hole that a power cut left contains NULs.
        if (!text.includes(NUL)) faults.push(`a line that was never appended: ${text}`);
        continue;
      }
      if (this.#takenBack.has(text)) faults.push(`a refused line was not rolled back: ${text}`);
      if (seen.has(text)) faults.push(`a line is there twice: ${text}`);
      seen.add(text);
      if (issued.order < (orders.get(issued.writer) ?? -1)) faults.push(`out of order: ${text}`);
      orders.set(issued.writer, issued.order);
    }
    return faults;
  }
}
