/**
 * Completions for bash: one function, registered for `verbatim`. Needs nothing but bash itself, also
 * the old one of macOS (3.2).
 */

/** @import { CommandNode, Value } from "./tree.mjs" */

import { longNames } from "./tree.mjs";

/** @param {readonly CommandNode[]} nodes */
export function bashCompletions(nodes) {
  return `# Completions of verbatim for bash. In ~/.bashrc: source <(verbatim completions bash)

_verbatim_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_verbatim_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}

_verbatim_sessions() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -W "last
$(verbatim ls --ids 2>/dev/null)" -- "$1") $(compgen -f -- "$1"))
}

_verbatim_more() {
  COMPREPLY+=($(compgen -W "$1" -- "$2"))
}

_verbatim() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} path= word i
  COMPREPLY=()
  # bash takes --root=dir for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$path/$word" in
${pathCases(nodes)}
    esac
  done
  case "$path" in
${nodes.map(nodeCase).join("\n")}
  esac
}

complete -F _verbatim verbatim
`;
}

/**
 * The words that lead from one command to the next.
 *
 * @param {readonly CommandNode[]} nodes
 */
function pathCases(nodes) {
  const paths = nodes.map(({ path }) => `/${path.join("/")}`).filter((path) => path !== "/");
  return `      ${paths.join(" | ")}) path=$path/$word ;;`;
}

/** @param {CommandNode} node */
function nodeCase({ path, commands, options, values }) {
  const valued = options.filter(({ value }) => value !== null);
  const afterOption = valued.map(({ names, value }) => {
    const completed = `${value ? complete(value) : ""}; return`;
    const unlessOption = value?.isOptional ? `[[ $cur == -* ]] || { ${completed}; }` : completed;
    return `        ${names.join(" | ")}) ${unlessOption} ;;`;
  });
  const words = options.flatMap(longNames);
  const last = values.at(-1);
  const names = commands.map(({ name }) => name);
  const more = names.length === 0 ? "" : `\n        _verbatim_more '${names.join(" ")}' "$cur"`;
  const otherwise = last ? complete(last) + more : listed(names) || ":";
  return `    ${path.length === 0 ? "''" : `/${path.join("/")}`})
${afterOption.length === 0 ? "" : `      case "$prev" in\n${afterOption.join("\n")}\n      esac\n`}      if [[ $cur == -* ]]; then
        ${listed(words)}
      else
        ${otherwise}
      fi
      ;;`;
}

const COMPLETED = {
  file: '_verbatim_files -f "$cur"',
  session: '_verbatim_sessions "$cur"',
  directory: '_verbatim_files -d "$cur"',
  own: ":",
};

/** @param {Value} value */
function complete(value) {
  return value.kind === "choice" ? listed(value.choices) : COMPLETED[value.kind];
}

/** @param {readonly string[]} words */
function listed(words) {
  return words.length === 0 ? "" : `_verbatim_words $'${words.join("\\n")}' "$cur"`;
}
