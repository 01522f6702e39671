/** Parses paths separated by colons, as in `PATH`. A backslash escapes a colon or a backslash. */
export function parsePathList(list: string): string[] {
  const escapedPaths = list.match(/(?:\\[\\:]|[^:])+/g) ?? []
  return escapedPaths.map(path => path.replace(/\\([\\:])/g, '$1'))
}

/** Formats paths as a list from which `parsePathList` returns the same paths. */
export function formatPathList(paths: readonly string[]): string {
  const escapedPaths = paths.map(path => path.replace(/[\\:]/g, '\\$&'))
  return escapedPaths.join(':')
}
