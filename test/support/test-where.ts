/**
 * Tests of what depends on the machine, such as Node's version or being root: where it does not
 * hold, they are not declared, rather than skipped. A file needs at least one other test.
 */

import { test } from "vitest";

const notDeclared = () => notDeclared;

export function testWhere(holds: boolean): typeof test {
  return holds
    ? test
    : (Object.assign(notDeclared, { each: notDeclared, for: notDeclared }) as never);
}
