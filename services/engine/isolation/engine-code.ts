import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../../..')
const PACKAGES = resolve(ROOT, 'node_modules')
const ZOD = realpathSync(resolve(PACKAGES, 'zod'))

/**
 * The folders and files that the engine's own child processes read to load their code: the engine,
 * the SDK and the packages, wherever these are installed. They contain no settings and no secrets.
 */
export const ENGINE_CODE: readonly string[] = [
  ...['services/engine', 'sdk', 'package.json'].map(path => resolve(ROOT, path)),
  // An installation may link its packages from another folder.
  ...new Set([PACKAGES, dirname(ZOD)]),
]

/**
 * What the process of an element of an uploaded plugin reads in addition to the plugin: the SDK
 * and the code around it.
 */
export const ELEMENT_CODE: readonly string[] = [
  ...[
    'package.json',
    'services/engine/package.json',
    'services/engine/frames',
    'services/engine/plugin-host/protocol',
    'services/engine/plugin-host/sandbox',
    'services/kit/package.json',
    'services/kit/descriptors',
    'sdk/contract',
    'sdk/element',
    'node_modules/@eyrie',
  ].map(path => resolve(ROOT, path)),
  ...new Set([resolve(PACKAGES, 'zod'), ZOD]),
]
