/** Titles of code actions as VS Code shows them. */

interface Action {
  title: string;
  readonly kind?: { readonly value: string };
}

/**
 * The server names code in backticks. VS Code renders no Markdown in a menu and puts names between single quotes
 * there. A quick fix quotes somebody else's words, so it stays as it is.
 */
export function quoteNames<T extends Action>(actions: T[] | null | undefined): T[] | null | undefined {
  for (const action of actions ?? []) {
    if (action.kind && !/^quickfix\b/.test(action.kind.value)) {
      action.title = action.title.replace(/`([^`]+)`/g, "'$1'");
    }
  }
  return actions;
}
