import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'

const CAMERA = /^video\d+$/

/**
 * Calls `onCamera` with the path of each camera that is plugged in, also again under the same name,
 * until the returned function is called. `folder` is the folder of the devices.
 */
export function watchNewCameras(folder: string, onCamera: (path: string) => void): () => void {
  const present = new Set(readdirSync(folder))
  const watcher = tryToWatch(folder, name => {
    if (!CAMERA.test(name)) return
    const path = join(folder, name)
    if (!existsSync(path)) present.delete(name)
    else if (!present.has(name)) {
      // Other events of the same device, such as a change of its mode, follow.
      present.add(name)
      onCamera(path)
    }
  })
  return () => watcher?.close()
}

/**
 * Returns undefined if the machine has no more watches: cameras that are plugged in later
 * then need a restart.
 */
function tryToWatch(folder: string, onChange: (name: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, (_, name) => {
      if (name !== null) onChange(name)
    })
    return watcher.on('error', () => {})
  } catch {
    return undefined
  }
}
