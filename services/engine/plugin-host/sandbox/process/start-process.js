import { enableCompileCache } from 'node:module'

/**
 * Starts a module in a sandboxed process, with the compiled code that `storeCompiledCode` has
 * stored, if it is given the folder of this code. Written in JavaScript, because Node needs 50 ms
 * until it can strip the types of the first file that is not stored.
 */

const [, , module, codeFolder] = process.argv
if (codeFolder) enableCompileCache(codeFolder)
await import(module)
