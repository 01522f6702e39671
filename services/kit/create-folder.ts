import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder, and the folders above it, unless they exist. New ones have the permissions
 * `mode`. The path must be absolute. Throws an `Error` that names the folder and the reason.
 *
 * The option `recursive` of `mkdirSync` tries without end in a folder that accepts no new ones,
 * such as `/proc` (as of Node 24).
 */
export function createFolder(path: string, mode: number): void {
  try {
    createMissing(path, mode)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${path} cannot be created (${message}): choose another folder`, { cause })
  }
}

function createMissing(path: string, mode: number): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) createMissing(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(path)) throw error
  }
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
