import { createRequire } from 'node:module'
import type { Message } from './message.ts'
import type { Pipeline } from './pipeline.ts'
import type { Ring, RingOptions } from './ring.ts'

interface Addon {
  /** Throws `GstError` if the launch string is invalid. */
  Pipeline: new (
    launch: string,
    onMessage: (message: Message) => void,
  ) => Pipeline
  Ring: new (options: RingOptions) => Ring
  /** GStreamer's version: `GStreamer 1.22.0`. */
  version: string
}

function load(): Addon {
  try {
    return createRequire(import.meta.url)('./build/Release/node_gst.node')
  } catch (cause) {
    throw new Error(
      'failed to load the GStreamer addon: run `npm run build --workspace services/media/node-gst` ' +
        `(${(cause as Error).message})`,
      { cause },
    )
  }
}

export const addon = load()
