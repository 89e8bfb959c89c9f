import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "vitest";
import { thrownRefusal } from "../../test/support/refusal.ts";
import { dataDirectory, userPlaces } from "./node-places.ts";

test("a user's files are where the XDG variables say, in a directory of our own", () => {
  const environment = { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  assert.deepEqual(userPlaces(environment), {
    configPath: "/c/verbatim/config.json",
    trustPath: "/c/verbatim/trust.json",
    keyDirectory: "/c/verbatim/keys",
    stateDirectory: "/s/verbatim",
  });
});

test("without the variables, empty or relative, they are where XDG says by default", () => {
  const expected = {
    configPath: `${homedir()}/.config/verbatim/config.json`,
    trustPath: `${homedir()}/.config/verbatim/trust.json`,
    keyDirectory: `${homedir()}/.config/verbatim/keys`,
    stateDirectory: `${homedir()}/.local/state/verbatim`,
  };
  for (const value of [undefined, "", "here", "./here", "../here"]) {
    const environment = { XDG_CONFIG_HOME: value, XDG_STATE_HOME: value };
    assert.deepEqual(userPlaces(environment), expected, String(value));
  }
});

test("streams are in the user's data directory, wherever XDG has it", () => {
  assert.equal(dataDirectory({ XDG_DATA_HOME: "/d" }), "/d/verbatim");
  for (const value of [undefined, "", "here"]) {
    const expected = `${homedir()}/.local/share/verbatim`;
    assert.equal(dataDirectory({ XDG_DATA_HOME: value }), expected, String(value));
  }
});

test("VERBATIM_KEY_DIR moves the keys alone, and is refused unless absolute", () => {
  const environment = { XDG_CONFIG_HOME: "/c", VERBATIM_KEY_DIR: "/elsewhere/keys" };
  const { keyDirectory, trustPath } = userPlaces(environment);
  assert.equal(keyDirectory, "/elsewhere/keys");
  assert.equal(trustPath, "/c/verbatim/trust.json");
  assert.equal(
    userPlaces({ ...environment, VERBATIM_KEY_DIR: "" }).keyDirectory,
    "/c/verbatim/keys",
  );
  for (const relative of ["keys", "./keys", "../keys", "~/keys"]) {
    const refused = () => userPlaces({ VERBATIM_KEY_DIR: relative });
    const { details } = thrownRefusal(refused, "BAD_SETTING");
    assert.equal(details.setting, "VERBATIM_KEY_DIR");
  }
});
