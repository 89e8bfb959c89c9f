/**
 * Compile: what the compiler has to say about a project, nothing when all is well.
 *
 * Of the project's own files and of everything that was installed into its folder, ours and what
 * we depend on, declarations included. Not of what is linked in from elsewhere, such as Node's own
 * types, nor of the language's: to check those takes ten times as long and says nothing about us.
 */

import { realpathSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * `folder`: where the packages were installed; `project`: below it, with a tsconfig.json. With
 * `isAsked`, the declarations of which packages are checked: by default all.
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
