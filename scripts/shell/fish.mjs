/** Completions for fish: one `complete` per word, under the condition that it may follow. */

/** @import { CommandNode, OptionWord, Value } from "./tree.mjs" */

/** @param {readonly CommandNode[]} nodes */
export function fishCompletions(nodes) {
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

/** @param {CommandNode} node */
function nodeLines({ path, commands, options, values }) {
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

const AS_ARGUMENT = {
  file: "-F",
  session: "-F -a 'last (verbatim ls --ids 2>/dev/null)'",
  directory: "-a '(__fish_complete_directories)'",
};

/**
 * @param {string} at
 * @param {Value} value
 */
function argumentLines(at, value) {
  if (value.kind === "own") return [];
  if (value.kind === "choice") return [`${at} -a ${quoted(value.choices.join(" "))}`];
  return [`${at} ${AS_ARGUMENT[value.kind]}`];
}

/**
 * @param {string} at
 * @param {OptionWord} option
 */
function optionLine(at, { names, summary, value }) {
  const words = names.map((name) =>
    name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name[1]}`,
  );
  return `${at} ${words.join(" ")}${value && !value.isOptional ? follows(value) : ""} -d ${quoted(summary)}`;
}

/**
 * fish itself offers an optional value after `=` only.
 *
 * @param {string} isHere
 * @param {OptionWord} option
 */
function optionalValueLines(isHere, { names, value }) {
  if (!value?.isOptional) return [];
  const isAfter = `${isHere}; and __verbatim_after ${names.join(" ")}`;
  return argumentLines(`complete -c verbatim -n ${quoted(isAfter)}`, value);
}

const AS_VALUE = {
  file: " -r -F",
  session: " -r -F -a '(verbatim ls --ids 2>/dev/null)'",
  directory: " -x -a '(__fish_complete_directories)'",
  own: " -x",
};

/** @param {Value} value */
function follows(value) {
  if (value.kind === "choice") return ` -x -a ${quoted(value.choices.join(" "))}`;
  return AS_VALUE[value.kind];
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
