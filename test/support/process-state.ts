/**
 * Process state: what a test file changes of its process is as before when the file is over, since
 * the next file runs in the same process. Environment, working directory, umask and effective user.
 */

import { afterAll } from "vitest";

const [env, directory, user] = [{ ...process.env }, process.cwd(), process.geteuid?.()];
const mask = process.umask(0);
process.umask(mask);

afterAll(() => {
  if (user !== undefined && process.geteuid?.() !== user) process.seteuid?.(user);
  process.umask(mask);
  process.chdir(directory);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
});
