/** Completions for zsh: a `#compdef` file, which may also be sourced. */

/** @import { CommandNode, OptionWord, Value } from "./tree.mjs" */

/** @param {readonly CommandNode[]} nodes */
export function zshCompletions(nodes) {
  return `#compdef verbatim
# Completions of verbatim for zsh. In a directory of your $fpath, as _verbatim:
#   verbatim completions zsh > "$fpath[1]/_verbatim"
# or in ~/.zshrc, after compinit: source <(verbatim completions zsh)

_verbatim_sessions() {
  local -a ids=(last \${(f)"$(_call_program sessions verbatim ls --ids)"})
  _alternative 'sessions:session:compadd -a ids' 'files:file:_files'
}

${nodes.map(nodeFunction).join("\n")}
if [ "$funcstack[1]" = "_verbatim" ]; then
  _verbatim "$@"
else
  compdef _verbatim verbatim
fi
`;
}

/**
 * Each command has a function; a group's calls those of its commands.
 *
 * @param {CommandNode} node
 */
function nodeFunction(node) {
  const specs = node.options.map(optionSpec);
  if (node.commands.length === 0) {
    const args = node.values.map((value, at) => {
      const isLast = at === node.values.length - 1;
      return `'${isLast && node.takesMany ? "*" : at + 1}: :${action(value)}'`;
    });
    return `${functionName(node.path)}() {
  _arguments -s -S \\
    ${[...specs, ...args].join(" \\\n    ")}
}
`;
  }
  const [value] = node.values;
  const orArgument = value === undefined ? "" : `\n      ${action(value)}`;
  const commands = node.commands.map(({ name, summary }) => quoted(`${name}:${summary}`));
  const cases = node.commands.map(({ name }) => {
    return `        ${name}) ${functionName([...node.path, name])} ;;`;
  });
  return `${functionName(node.path)}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \\
    ${[...specs, "'1: :->command'", "'*:: :->argument'"].join(" \\\n    ")}
  case $state in
    command)
      local -a commands=(
        ${commands.join("\n        ")}
      )
      _describe -t commands command commands${orArgument}
      ;;
    argument)
      case $line[1] in
${cases.join("\n")}
      esac
      ;;
  esac
}
`;
}

/** @param {readonly string[]} path */
function functionName(path) {
  return ["_verbatim", ...path].join("_").replaceAll("-", "_");
}

/** @param {OptionWord} option */
function optionSpec({ names, summary, value }) {
  const told = `[${summary.replace(/[\\[\]:]/g, "\\$&")}]`;
  const colon = value?.isOptional ? "::" : ":";
  const follows = value === null ? "" : `${colon}${value.name}:${action(value)}`;
  const specs = names.map((name) => quoted(`${name}${value ? "=" : ""}${told}${follows}`));
  if (names.length === 1) return specs.join("");
  return names
    .map((name, at) => quoted(`(${names.join(" ")})`) + (specs[at] ?? name))
    .join(" \\\n    ");
}

const ACTIONS = {
  file: "_files",
  session: "_verbatim_sessions",
  directory: "_files -/",
  own: " ",
};

/** @param {Value} value */
function action(value) {
  return value.kind === "choice" ? `(${value.choices.join(" ")})` : ACTIONS[value.kind];
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
