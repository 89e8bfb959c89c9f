import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { onTestFinished, test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { dataDirectory, surroundings, userPaths } from "./node-paths.ts";

test("a user's files are in a directory of ours below the XDG variables", () => {
  const environment = { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" };
  assert.deepEqual(userPaths(environment), {
    configPath: "/c/verbatim/config.json",
    trustPath: "/c/verbatim/trust.json",
    keyDirectory: "/c/verbatim/keys",
    stateDirectory: "/s/verbatim",
  });
});

test("XDG variables that are missing, empty or relative fall back to the XDG defaults", () => {
  for (const value of [undefined, "", "here", "./here", "../here"]) {
    const environment = { HOME: "/h", XDG_CONFIG_HOME: value, XDG_STATE_HOME: value };
    assert.deepEqual(userPaths(environment), placesIn("/h"), String(value));
  }
});

test("without an absolute HOME, the home directory comes from the system's user list (NP1)", () => {
  const { homedir } = userInfo();
  assert.deepEqual(userPaths({}), placesIn(homedir));
  const before = process.env.HOME ?? "";
  onTestFinished(() => {
    process.env.HOME = before;
  });
  for (const HOME of ["", ".", "here", "../here", "~"]) {
    process.env.HOME = HOME;
    assert.deepEqual(userPaths({ HOME }), placesIn(homedir), HOME);
    assert.equal(dataDirectory({ HOME }), `${homedir}/.local/share/verbatim`);
    assert.equal(surroundings().home, homedir);
  }
});

test("streams are in the XDG data directory", () => {
  assert.equal(dataDirectory({ XDG_DATA_HOME: "/d" }), "/d/verbatim");
  for (const value of [undefined, "", "here"]) {
    const environment = { HOME: "/h", XDG_DATA_HOME: value };
    assert.equal(dataDirectory(environment), "/h/.local/share/verbatim", String(value));
  }
});

test("VERBATIM_KEY_DIR moves only the keys, and is refused unless absolute", () => {
  const environment = { XDG_CONFIG_HOME: "/c", VERBATIM_KEY_DIR: "/elsewhere/keys" };
  const { keyDirectory, trustPath } = userPaths(environment);
  assert.equal(keyDirectory, "/elsewhere/keys");
  assert.equal(trustPath, "/c/verbatim/trust.json");
  assert.equal(
    userPaths({ ...environment, VERBATIM_KEY_DIR: "" }).keyDirectory,
    "/c/verbatim/keys",
  );
  for (const relative of ["keys", "./keys", "../keys", "~/keys"]) {
    const refused = () => userPaths({ VERBATIM_KEY_DIR: relative });
    const { details } = thrownRefusal(refused, "BAD_SETTING");
    assert.equal(details.setting, "VERBATIM_KEY_DIR");
  }
});

function placesIn(home: string) {
  return {
    configPath: `${home}/.config/verbatim/config.json`,
    trustPath: `${home}/.config/verbatim/trust.json`,
    keyDirectory: `${home}/.config/verbatim/keys`,
    stateDirectory: `${home}/.local/state/verbatim`,
  };
}
