/** Other programs' settings: our hooks are added once and removed again, and nothing else changes. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { docsPage } from "../../../test/support/docs-page.ts";
import { HOOK_EVENTS, SettingsFault, withHooks, withoutHooks } from "./hook-settings.ts";

const FROM = "claude-code-hooks";
const COMMAND = `verbatim record --from ${FROM}`;
const page = docsPage("formats/claude");

const OWN = `{
    "model": "opus",  "big": 12345678901234567890, "model": "twice",
    "hooks": {
        "Stop": [ { "hooks": [{"type":"command","command":"say \\"}]\\" done"}] } ],
        "WorktreeCreate": [{"hooks":[{"type":"command","command":"make-tree"}]}]
    },
    "10": 1, "9": 2
}
`;

interface Settings {
  readonly hooks?: Record<string, { hooks: { command: string }[] }[]>;
}

function commandsIn(text: string): Record<string, number> {
  const { hooks = {} } = JSON.parse(text) as Settings;
  const count = (groups: { hooks: { command: string }[] }[]) =>
    groups.flatMap((group) => group.hooks).filter(({ command }) => command.startsWith("verbatim"));
  return Object.fromEntries(
    Object.entries(hooks).map(([event, groups]) => [event, count(groups).length]),
  );
}

test("installed into empty settings, the result is the example on the page", () => {
  const claude = withHooks(null, FROM, COMMAND);
  assert.deepEqual(JSON.parse(claude), JSON.parse(page.block("json claude-code-settings")));
  const codex = withHooks(null, "codex-hooks", "verbatim record --from codex-hooks");
  assert.deepEqual(JSON.parse(codex), JSON.parse(page.block("json codex-hooks")));
  assert.ok(claude.endsWith("}\n"));
});

test("hooks that expect an answer, or run for every few lines, are not installed", () => {
  for (const event of ["WorktreeCreate", "MessageDisplay", "PostToolBatch"]) {
    assert.ok(!HOOK_EVENTS[FROM].includes(event));
  }
});

test("installing twice changes nothing, and new options replace the earlier ones", () => {
  const once = withHooks(OWN, FROM, COMMAND);
  assert.equal(withHooks(once, FROM, COMMAND), once);
  const withEmpty = withHooks('{"hooks":{"Stop":[]}}', FROM, COMMAND);
  assert.equal(withHooks(withEmpty, FROM, COMMAND), withEmpty);
  const counts = commandsIn(once);
  for (const event of HOOK_EVENTS[FROM]) assert.equal(counts[event], 1, event);
  assert.equal(counts.WorktreeCreate, 0);
  const signed = withHooks(once, FROM, `${COMMAND} --sign append`);
  assert.deepEqual(commandsIn(signed), counts);
  assert.ok(!signed.includes(`${COMMAND}"`));
});

test("after removing the hooks, the settings are byte for byte what they were", () => {
  const cases = [OWN, '{"a":1}', '{\n\t"a": {}\n}', '{ "hooks": {"Stop": [{"hooks": []}]} }\n'];
  for (const text of cases) assert.equal(withoutHooks(withHooks(text, FROM, COMMAND), FROM), text);
  assert.equal(withoutHooks(OWN, FROM), OWN, "there are none of ours");
  const groups = fc.array(fc.record({ matcher: fc.string(), hooks: fc.array(handler()) }), {
    maxLength: 3,
  });
  const hooks = fc.dictionary(fc.constantFrom("Stop", "PreToolUse", "Odd"), groups, {
    minKeys: 1,
  });
  fc.assert(
    fc.property(
      fc.record({ a: fc.jsonValue(), hooks, z: fc.jsonValue() }),
      fc.boolean(),
      (value, flat) => {
        const text = JSON.stringify(value, null, flat ? 0 : 3);
        const installed = withHooks(text, FROM, COMMAND);
        assert.deepEqual({ ...JSON.parse(installed), hooks }, { ...JSON.parse(text), hooks });
        const without = JSON.parse(withoutHooks(installed, FROM)) as Settings;
        assert.deepEqual(kept(without), kept(JSON.parse(text) as Settings));
      },
    ),
  );
});

/** An event without groups counts as absent. */
function kept({ hooks = {}, ...rest }: Settings): unknown {
  return { ...rest, hooks: Object.entries(hooks).filter(([, groups]) => groups.length > 0) };
}

function handler() {
  return fc.record({ type: fc.constant("command"), command: fc.string() });
}

test("other programs' hooks in the same group stay when ours are removed", () => {
  const ours = { type: "command", command: `${COMMAND} --sign` };
  const others = { type: "command", command: "notify" };
  const mixed = JSON.stringify({ hooks: { Stop: [{ hooks: [ours, others] }, { hooks: [ours] }] } });
  assert.deepEqual(JSON.parse(withoutHooks(mixed, FROM)), {
    hooks: { Stop: [{ hooks: [others] }] },
  });
  assert.equal(withoutHooks(mixed, "codex-hooks"), mixed, "the other agent's are not touched");
});

test("settings that cannot be parsed are refused", () => {
  for (const odd of ["", "// comment\n{}", "[]", '{"hooks":[]}', '{"hooks":{"Stop":{}}}']) {
    assert.throws(() => withHooks(odd, FROM, COMMAND), SettingsFault, odd);
    assert.throws(() => withoutHooks(odd, FROM), SettingsFault, odd);
  }
});
