/**
 * Returns the message of an error, and where in the plugin's folder it was thrown, such as
 * `limit is not defined (element.ts:12:5)`. Errors of the syntax have a line only. Without a
 * folder, it is the message alone.
 */
export function describeError(error: unknown, folder: string | undefined): string {
  if (!(error instanceof Error)) return String(error)
  const location = folder === undefined ? undefined : findLocation(String(error.stack), folder)
  return location === undefined ? error.message : `${error.message} (${location})`
}

/** The first place in the stack that belongs to the plugin, relative to its folder. */
function findLocation(stack: string, folder: string): string | undefined {
  for (const line of stack.split('\n')) {
    // Stacks contain paths and, for modules, URLs, which encode some characters.
    for (const prefix of [`${folder}/`, `${encodeURI(folder)}/`]) {
      const start = line.indexOf(prefix)
      if (start < 0) continue
      const [location] = /^[^:()]+:\d+(:\d+)?/.exec(line.slice(start + prefix.length)) ?? []
      if (location && !location.startsWith('node_modules/')) return location
    }
  }
  return undefined
}
