import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

/** Every file of the project that git tracks or would track, relative to the root. */
export function projectFiles(): string[] {
  const output = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return [...new Set(output.split('\n'))].filter(
    file => file !== '' && existsSync(join(root, file)),
  )
}

/**
 * TypeScript that ships: without tests, fixtures, benchmarks, generators and
 * configuration of tools.
 */
export const productFiles = (): string[] =>
  projectFiles().filter(
    file =>
      /\.tsx?$/.test(file) &&
      !/\.(test|fixture)\.ts$|^test\/|\.config\.ts$|generate\.ts$/.test(file),
  )

export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The module specifiers that a TypeScript file imports, types included, as written. */
export function findImports(file: string): string[] {
  const code = read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const clauses = code.matchAll(
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]/gm,
  )
  return [...clauses].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')
}

/** The project's files that a file imports by relative paths. */
export const findRelativeImports = (file: string): string[] =>
  findImports(file)
    .filter(module => module.startsWith('.'))
    .map(module => join(dirname(file), module))
