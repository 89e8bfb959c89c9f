/**
 * Compile: the compiler's messages about a project.
 *
 * Covers the project's own files and everything installed into its folder, ours and our dependencies,
 * declarations included. Not what is linked in, such as Node's own types, nor the language's: checking
 * those takes ten times as long and says nothing about us.
 */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * `folder`: where the packages were installed; `project`: below it, with a tsconfig.json. `isAsked`
 * selects the packages whose declarations are checked: by default all.
 */
export function compile(
  project: string,
  folder: string,
  isAsked: (path: string) => boolean = () => true,
): string {
  const { config, error } = ts.readConfigFile(join(project, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, project);
  const program = ts.createProgram(fileNames, options);
  const installed = `${realpathSync(folder)}/`;
  const found = [
    ...(error ? [error] : []),
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
  ];
  for (const file of program.getSourceFiles()) {
    const path = realpathSync(file.fileName);
    if (!path.startsWith(installed) || !isAsked(path.slice(installed.length))) continue;
    found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
  }
  return ts.formatDiagnostics(found, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => project,
    getNewLine: () => "\n",
  });
}
