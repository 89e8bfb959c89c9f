/** Completions for fish: one `complete` per word, under the condition that it may follow. */

import type { CommandNode, OptionWord, Value } from "./completions-tree.ts";

export function fishCompletions(nodes: readonly CommandNode[]): string {
  const paths = nodes.map(({ path }) => path.join("/")).filter((path) => path !== "");
  return `# Completions of verbatim for fish:
#   verbatim completions fish > ~/.config/fish/completions/verbatim.fish

# Prints the words that lead to the command at the cursor, joined by /.
function __verbatim_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path/$word"
            case ${paths.map((path) => quoted(`/${path}`)).join(" ")}
                set path "$path/$word"
        end
    end
    echo -- "$path"
end

function __verbatim_at
    test (__verbatim_path) = "$argv[1]"
end

function __verbatim_after
    contains -- (commandline -opc)[-1] $argv
end

complete -c verbatim -f
${nodes.map(nodeLines).join("\n")}
`;
}

function nodeLines({ path, commands, options, values }: CommandNode): string {
  const isHere = `__verbatim_at ${quoted(path.map((word) => `/${word}`).join(""))}`;
  const at = `complete -c verbatim -n ${quoted(isHere)}`;
  const last = values.at(-1);
  return [
    ...commands.map(({ name, summary }) => `${at} -a ${quoted(name)} -d ${quoted(summary)}`),
    ...(last ? argumentLines(at, last) : []),
    ...options.map((option) => optionLine(at, option)),
    ...options.flatMap((option) => optionalValueLines(isHere, option)),
  ].join("\n");
}

function argumentLines(at: string, value: Value): string[] {
  switch (value.kind) {
    case "choice":
      return [`${at} -a ${quoted(value.choices.join(" "))}`];
    case "file":
      return [`${at} -F`];
    case "session":
      return [`${at} -F -a 'last (verbatim ls --ids 2>/dev/null)'`];
    case "directory":
      return [`${at} -a '(__fish_complete_directories)'`];
    case "own":
      return [];
  }
}

function optionLine(at: string, { names, summary, value }: OptionWord): string {
  const words = names.map((name) =>
    name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name[1]}`,
  );
  return `${at} ${words.join(" ")}${value && !value.isOptional ? follows(value) : ""} -d ${quoted(summary)}`;
}

/** fish itself offers a value that may be missing after `=` only. */
function optionalValueLines(isHere: string, { names, value }: OptionWord): string[] {
  if (!value?.isOptional) return [];
  const isAfter = `${isHere}; and __verbatim_after ${names.join(" ")}`;
  return argumentLines(`complete -c verbatim -n ${quoted(isAfter)}`, value);
}

function follows(value: Value): string {
  switch (value.kind) {
    case "choice":
      return ` -x -a ${quoted(value.choices.join(" "))}`;
    case "file":
      return " -r -F";
    case "session":
      return " -r -F -a '(verbatim ls --ids 2>/dev/null)'";
    case "directory":
      return " -x -a '(__fish_complete_directories)'";
    case "own":
      return " -x";
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
