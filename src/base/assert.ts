/** Asserts: misuse by the programmer, never something the world did. No Node, so browsers run it. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TypeError(`Verbatim was misused: ${message}`);
}
