/**
 * Empty file: a stream's file before its first byte. The file is created with that byte; until
 * then, signing and verifying read this instead.
 */

import { errnoOf } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";

/** Opens a file to read; if it does not exist, an empty one. */
export function openOrEmpty(directory: Directory, name: string): OpenFile {
  try {
    return directory.open(name, "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return new EmptyFile();
    throw cause;
  }
}

class EmptyFile implements OpenFile {
  async read(): Promise<number> {
    return 0;
  }
  size(): number {
    return 0;
  }
  endsAt(size: number): boolean {
    return size === 0;
  }
  identity(): string {
    return "";
  }
  isLinked(): boolean {
    return false;
  }
  narrow(): null {
    return null;
  }

  tryLock(): boolean {
    return false;
  }
  unlock(): void {}
  close(): void {}
  write(): number {
    throw readOnly();
  }
  landing(): never {
    throw readOnly();
  }
  writeAt(): number {
    throw readOnly();
  }
  truncate(): void {
    throw readOnly();
  }
  async sync(): Promise<void> {
    throw readOnly();
  }
}

function readOnly(): TypeError {
  return new TypeError("a file that is not there is only read");
}
