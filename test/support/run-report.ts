/**
 * Run report: what a run says after its results. The slowest files; tests that passed only at their
 * second try, by name; for each failure the command that repeats it with the same cases.
 *
 * Few tests may be tried twice (vitest.config.ts). If more than two needed it, the run fails:
 * something makes tests unsteady, and a green run would hide it.
 */

import type { Reporter, TestCase, TestModule } from "vitest/node";
import { seedSettings } from "./seed.ts";

const SLOWEST = 10;
const UNSTEADY_MAX = 2;

export class RunReport implements Reporter {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.#write = write;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.filter((test) => test.result().state === "failed");
    const unsteady = tests.filter((test) => test.diagnostic()?.flaky);
    const isTooUnsteady = unsteady.length > UNSTEADY_MAX;
    this.#list("Slowest files:", modules.length > 1 ? slowest(modules) : []);
    this.#list("Unsteady (passed at the second try):", unsteady.map(nameOf));
    if (isTooUnsteady) {
      this.#write(
        `Failed: ${unsteady.length} unsteady tests; at most ${UNSTEADY_MAX} are allowed.\n`,
      );
      process.exitCode = 1;
    }
    this.#list("To repeat what failed, with the same cases:", [...new Set(failed.map(repetition))]);
  }

  #list(title: string, lines: readonly string[]): void {
    if (lines.length > 0) this.#write(`\n${[title, ...lines].join("\n  ")}\n`);
  }
}

function slowest(modules: readonly TestModule[]): string[] {
  const sorted = [...modules].sort((a, b) => secondsOf(b) - secondsOf(a));
  return sorted
    .slice(0, SLOWEST)
    .map((module) => `${secondsOf(module).toFixed(1).padStart(6)} s  ${module.relativeModuleId}`);
}

function secondsOf(module: TestModule): number {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  return (collectDuration + duration + setupDuration) / 1000;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}`;
}

function repetition(test: TestCase): string {
  return `${seedSettings()} npx vitest run ${test.module.relativeModuleId}`;
}
