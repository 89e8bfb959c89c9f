/** Reading untrusted objects. */

import assert from "node:assert/strict";
import { test } from "vitest";
import { get } from "./fields.ts";

test("a field named like something of Object is absent unless the object has it itself", () => {
  const names = [...Object.getOwnPropertyNames(Object.prototype), "absent"];
  for (const name of names) {
    assert.equal(get({}, name, "fallback"), "fallback", name);
    const own = JSON.parse(`{${JSON.stringify(name)}:1}`) as Record<string, unknown>;
    assert.equal(get(own, name, "fallback"), 1, name);
  }
});
