import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Entries of the `exports` in a package.json: the files of each path. */
type Exports = Record<string, unknown>

/**
 * Replaces the entries of an npm package's `exports` that all follow one pattern by that pattern.
 * The same paths lead to the same files as before.
 *
 * Node parses `exports` again for each module that it loads from a package (`getPackageScopeConfig`
 * in its package_json_reader.js copies all members of an object that parses them on access). The
 * 447 entries of drizzle-orm, 179 KB, take each process of management 0.65 s of CPU time.
 */
export function shortenExports(exports: Exports): Exports {
  const isPattern = (path: string) => path.includes('*')
  const counts = new Map<string, number>()
  const generalize = ([path, files]: [string, unknown]) =>
    JSON.stringify(files).replaceAll(`"${path}.`, '"./*.')
  const entries = Object.entries(exports)
  for (const entry of entries) {
    const files = generalize(entry)
    if (files.includes('"./*.')) counts.set(files, (counts.get(files) ?? 0) + 1)
  }
  const [pattern] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? []
  // A pattern of the package itself may have another order of precedence.
  if (pattern === undefined || entries.some(([path]) => isPattern(path))) return exports

  const others = entries.filter(entry => generalize(entry) !== pattern)
  return { ...Object.fromEntries(others), './*': JSON.parse(pattern) }
}

/** node shorten-exports.ts <folder of a package>... */
if (import.meta.main) {
  for (const folder of process.argv.slice(2)) {
    const file = join(folder, 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    const shortened = { ...manifest, exports: shortenExports(manifest.exports) }
    // A new file: npm may have linked the old one to its cache.
    writeFileSync(`${file}.new`, JSON.stringify(shortened, null, 2))
    renameSync(`${file}.new`, file)
  }
}
