import { createRequire } from 'node:module'
import type { Message } from './message.ts'
import type { Pipeline } from './pipeline.ts'
import type { Ring, RingOptions } from './ring.ts'

/**
 * The exports of the native addon, which is written in C++ and gives JavaScript
 * access to GStreamer.
 */
interface Addon {
  /** Throws `GstError` if the launch string is invalid. */
  Pipeline: new (
    launch: string,
    onMessage: (message: Message) => void,
  ) => Pipeline
  Ring: new (options: RingOptions) => Ring
  /**
   * Loads a plugin, which registers its elements again, for plugins whose elements depend on the
   * hardware: the registry contains the elements of the hardware at the time of the search. Returns
   * whether the plugin is installed.
   */
  loadPlugin(name: string): boolean
  /** Version of GStreamer, such as `GStreamer 1.22.0`. */
  version: string
}

function load(): Addon {
  try {
    return createRequire(import.meta.url)('./build/Release/node_gst.node')
  } catch (cause) {
    const { message } = cause as Error
    const build = 'npm run build --workspace services/media/node-gst'
    throw new Error(`failed to load the GStreamer addon (${message}): run \`${build}\``, { cause })
  }
}

/** The addon. Loading it fails with an explanation if it was not built. */
export const addon = load()
