import { existsSync } from 'node:fs'
import { loadPlugin } from '../node-gst/index.ts'

/** The device through which programs reach the driver. */
const DRIVER = '/dev/nvidiactl'

/**
 * Registers the elements for NVIDIA graphics processors. They are not in GStreamer's registry if
 * the driver was installed after the plugins were searched, or if the program that searches them
 * could not reach the processors: media's policy lets only media itself.
 */
export function registerNvidiaElements(): void {
  if (existsSync(DRIVER)) loadPlugin('nvcodec')
}
