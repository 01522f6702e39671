import { enableCompileCache } from 'node:module'

/**
 * Entry point of the sandboxed process in which an element of an uploaded plugin runs. It starts
 * with the compiled code that `storeCompiledCode` has stored, if it is given the folder of this
 * code. Written in JavaScript, because Node needs 50 ms until it can strip the types of the first
 * file that is not stored.
 */

const [, , codeFolder] = process.argv
if (codeFolder) enableCompileCache(codeFolder)
await import('./element-process.ts')
