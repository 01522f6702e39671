import { enableCompileCache } from 'node:module'

/**
 * Entry point of the sandboxed process in which an element of an uploaded plugin runs. It starts with the compiled code that
 * `fillCompileCache` has stored, if it is given the folder of this code.
 */

const [, , cacheFolder] = process.argv
if (cacheFolder) enableCompileCache(cacheFolder)
await import('./element-process.ts')
