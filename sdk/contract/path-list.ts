/** Several folders in one variable, as PATH has them: a colon between two, and one that belongs to a name behind a `\`. */
export const parsePathList = (list: string): string[] =>
  (list.match(/(?:\\[\\:]|[^:])+/g) ?? []).map(folder => folder.replace(/\\([\\:])/g, '$1'))

export const formatPathList = (folders: readonly string[]): string =>
  folders.map(folder => folder.replace(/[\\:]/g, '\\$&')).join(':')
