/** What an error of the file system means at a path, and what to do; undefined for others. */
export function explainFile(error: unknown, path: string): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException
  return meanings[code]?.(path)
}

const meanings: Record<string, (path: string) => string> = {
  ENOENT: path => `there is no ${path}`,
  ENOTDIR: path => `${path} does not lie in a folder`,
  EISDIR: path => `${path} is a folder: name a file`,
  EACCES: path => `${path} may not be read or written: do this as the user who runs Eyrie`,
  EROFS: path => `nothing can be written at ${path}: choose another disk`,
  ENOSPC: path => `the disk is full at ${path}; nothing has changed: make room there`,
  EDQUOT: path => `no more may be written at ${path}; nothing has changed: make room there`,
}
