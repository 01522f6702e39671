/** Parses a list of paths in the format of `PATH`: separated by colons. A backslash escapes a colon or backslash. */
export const parsePathList = (list: string): string[] =>
  (list.match(/(?:\\[\\:]|[^:])+/g) ?? []).map(path => path.replace(/\\([\\:])/g, '$1'))

export const formatPathList = (paths: readonly string[]): string =>
  paths.map(path => path.replace(/[\\:]/g, '\\$&')).join(':')
