import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

const COMPILER = resolve(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')

/**
 * Returns the path of the TypeScript compiler. Throws an `Error` if it is not
 * installed, as in the images.
 */
export function findCompiler(): string {
  if (existsSync(COMPILER)) return COMPILER
  throw new Error(
    'TypeScript is not installed here: use a checkout of Eyrie, in which make setup has installed it',
  )
}
