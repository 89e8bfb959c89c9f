/** Open descriptors: which files below a directory this process still holds open (Linux). */

import { readdirSync, readlinkSync } from "node:fs";

export function openDescriptorsBelow(path: string): string[] {
  return readdirSync("/proc/self/fd")
    .map(target)
    .filter((target) => target.startsWith(path))
    .sort();
}

function target(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // Closed since it was listed, such as the descriptor of the listing itself.
  }
}
