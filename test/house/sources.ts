import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** Every file of the project that git tracks or would track, relative to the root. */
export function projectFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return [...new Set(listed.split('\n'))].filter(file => file !== '' && existsSync(join(root, file)))
}

export const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The modules that a TypeScript file imports, as written. */
export function importsOf(file: string): string[] {
  const text = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const clauses = text.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm,
  )
  return [...clauses].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')
}
