/**
 * Lock-file rules: the locked packages install on every supported machine, from any registry.
 *
 * npm only warns about a package that refuses our Node. It also omits a platform from the lock file
 * without a warning if the lock file is made next to an existing `node_modules`.
 */

export type LockRule = "engines" | "platforms" | "address" | "not-exact";

export interface LockViolation {
  readonly rule: LockRule;
  readonly path: string;
  readonly message: string;
}

interface LockedPackage {
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

type Version = readonly [major: number, minor: number, patch: number];

/** The oldest supported Node: `engines` in package.json. */
const NODE_MIN: Version = [20, 19, 0];

/** Packages that ask for a newer Node and are tested on ours (docs/decisions/0012). */
const RUNS_ON_OLDER_NODE = /^node_modules\/(?:ai|agents-core)-newest(?:\/|$)/;

const ARCHITECTURES = ["linux-x64", "linux-arm64"] as const;

export function checkLockFile(lock: LockFile): LockViolation[] {
  const violations: LockViolation[] = [];
  const report = (rule: LockRule, path: string, message: string) =>
    violations.push({ rule, path, message });

  for (const [path, locked] of Object.entries(lock.packages)) {
    const range = locked.engines?.node;
    if (range !== undefined && !RUNS_ON_OLDER_NODE.test(path) && !acceptsNode(range, NODE_MIN)) {
      report("engines", path, `takes Node ${range}, not ${NODE_MIN.join(".")}`);
    }
    // The funding links are the packages' own; any other address would be a registry's.
    if (JSON.stringify({ ...locked, funding: undefined }).includes("://")) {
      report("address", path, "names an address to install from");
    }
    for (const problem of missingPlatforms(lock, locked)) report("platforms", path, problem);
  }
  const root = lock.packages[""];
  for (const [name, version] of Object.entries({
    ...root?.dependencies,
    ...root?.devDependencies,
  })) {
    if (!/^(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+$/.test(version))
      report("not-exact", "", `${name} is declared as ${version}`);
  }
  return violations;
}

function missingPlatforms(lock: LockFile, locked: LockedPackage): string[] {
  const binaries = Object.keys(locked.optionalDependencies ?? {}).filter((name) =>
    ARCHITECTURES.some((architecture) => name.includes(architecture)),
  );
  if (binaries.length === 0) return [];

  const unlocked = binaries
    .filter(
      (name) => !Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`)),
    )
    .map((name) => `${name} is not in the lock file`);
  const unoffered = ARCHITECTURES.filter(
    (architecture) => !binaries.some((name) => name.includes(architecture)),
  ).map((architecture) => `offers no binary for ${architecture}`);
  return [...unlocked, ...unoffered];
}

/**
 * Whether a version range accepts a version: the part of npm's grammar that `engines.node` uses. An
 * unknown form is not accepted, so that it is noticed.
 */
export function acceptsNode(range: string, version: Version): boolean {
  return range.split("||").some((alternative) => {
    const comparators = alternative
      .trim()
      .replace(/([<>=^~])\s+/g, "$1")
      .split(/\s+/);
    return comparators.every((comparator) => acceptsComparator(comparator, version));
  });
}

function acceptsComparator(comparator: string, version: Version): boolean {
  if (comparator === "" || comparator === "*" || comparator === "x") return true;
  const match = /^(>=|<=|>|<|=|\^|~|)v?(\d+)(?:\.(\d+|x|\*))?(?:\.(\d+|x|\*))?$/.exec(comparator);
  if (!match) return false;

  const [, operator, ...parts] = match;
  const given = parts.filter((part) => part !== undefined && /^\d+$/.test(part)).map(Number);
  const [major = 0, minor = 0, patch = 0] = given;
  const from: Version = [major, minor, patch];
  const nextMajor: Version = [major + 1, 0, 0];
  const nextMinor: Version = [major, minor + 1, 0];
  // A version with missing parts means all that begin with it: 20 is >=20.0.0 <21.0.0.
  const past: Version =
    given.length === 1 ? nextMajor : given.length === 2 ? nextMinor : [major, minor, patch + 1];

  switch (operator) {
    case ">=":
      return compare(version, from) >= 0;
    case "<":
      return compare(version, from) < 0;
    case ">":
      return compare(version, past) >= 0;
    case "<=":
      return compare(version, past) < 0;
    case "^":
      return compare(version, from) >= 0 && compare(version, major > 0 ? nextMajor : nextMinor) < 0;
    case "~":
      return (
        compare(version, from) >= 0 && compare(version, given.length > 1 ? nextMinor : past) < 0
      );
    default:
      return compare(version, from) >= 0 && compare(version, past) < 0;
  }
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
