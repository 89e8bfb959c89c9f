/**
 * Node version: refuses a Node that is too old, in a sentence, before files are loaded that it cannot
 * run. Bundled into the loader, so it has only what Node 14 can read and run.
 */

/** Whether `engines` of package.json includes this version, such as 20.19.0. */
export function runsOn(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major === 20) return minor >= 19;
  if (major === 22) return minor >= 12;
  return major >= 24;
}

/** The exit code. An agent that runs a hook must not be stopped by it (hook.ts). */
export function refuseNode(version: string, args: readonly string[]): number {
  const sentence =
    `verbatim needs Node ^20.19 || ^22.12 || >=24, and this is Node ${version}: ` +
    "install a newer one from https://nodejs.org, or choose one with your version manager";
  process.stderr.write(`${sentence}\n`);
  return args.some((arg) => arg.endsWith("-hooks")) ? 0 : 7;
}
