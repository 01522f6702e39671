import { watch } from 'node:fs'
import { sep } from 'node:path'

/** Editors write a file in several steps. */
const QUIET_MS = 60

/**
 * Calls `onChange` after files of a plugin have changed, once it is quiet for a moment, and never
 * before its last call has finished. Dot files and `node_modules` do not belong to the package.
 * Ends with the signal.
 */
export function watchFolder(
  folder: string,
  onChange: () => Promise<void>,
  signal: AbortSignal,
): void {
  let isRunning = false
  let isChanged = false
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    if (isRunning || signal.aborted) return
    isRunning = true
    while (isChanged && !signal.aborted) {
      isChanged = false
      await onChange()
    }
    isRunning = false
  }

  const watcher = watch(folder, { recursive: true, signal }, (_, path) => {
    if (
      path
        ?.split(sep)
        .some(name => name.startsWith('.') || name === 'node_modules' || name.endsWith('~'))
    ) {
      return
    }
    isChanged = true
    clearTimeout(timer)
    timer = setTimeout(() => void run(), QUIET_MS)
  })
  // A folder that was deleted while it was read.
  watcher.on('error', () => {})
  signal.addEventListener('abort', () => clearTimeout(timer))
}
