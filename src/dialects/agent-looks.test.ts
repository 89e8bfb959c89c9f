import assert from "node:assert/strict";
import { test } from "vitest";
import { agentLook } from "./agent-looks.ts";
import { PROGRAMS } from "./registry.ts";

test("every program has a colour and a mark that no other has", () => {
  const looks = Object.values(PROGRAMS).map(({ label }) => agentLook(label));
  const marks = looks.map(({ mark }) => mark.toLowerCase());
  assert.equal(new Set(marks).size, looks.length);
  const hues = looks.map(({ hue }) => hue).sort((a, b) => a - b);
  const gaps = hues.map((hue, at) => (hues[at + 1] ?? 360 + (hues[0] ?? 0)) - hue);
  assert.ok(Math.min(...gaps) >= 25, `${hues}`);
});

test("any other agent has its look from its name, always the same", () => {
  for (const label of ["ops/deploy", "__proto__", "", "🦆", "7", "constructor"]) {
    const look = agentLook(label);
    assert.deepEqual(look, agentLook(label));
    assert.ok(look.hue >= 0 && look.hue < 360 && look.mark.length > 0, label);
  }
  assert.equal(agentLook("ops/deploy").mark, "De");
});
