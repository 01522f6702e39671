import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')
const PACKAGES = resolve(ROOT, 'node_modules')

/**
 * The folders and files that the engine's own child processes read to load their code: the engine, the SDK and the
 * packages, wherever these are installed. They contain no settings and no secrets.
 */
export const ENGINE_CODE: readonly string[] = [
  ...['services/engine', 'sdk', 'package.json'].map(path => resolve(ROOT, path)),
  // An installation may link its packages from another folder.
  ...new Set([PACKAGES, dirname(realpathSync(resolve(PACKAGES, 'zod')))]),
]
