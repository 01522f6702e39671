import type { WantedSource } from '@eyrie/contract'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import type { Picture } from '../picture.ts'
import { openCamera } from './camera.ts'
import type { Fault } from './fault.ts'
import { openFile } from './file.ts'
import { openPattern } from './pattern.ts'

/** Where a session gets its packets from. */
export interface Origin {
  /** Its address without credentials. */
  name: string
  /**
   * Elements up to coded video, the first of which is named `origin`: either H.264 for sure, or whatever there is,
   * parsed. Neither addresses nor secrets are in it.
   */
  elements: { h264: string; any: string }
  /** Sets what does not belong into a launch string. */
  configure(pipeline: Pipeline): void
  /** What comes, where that is known beforehand. */
  picture: Picture | undefined
  /** Frames come when they are taken, so that nobody has to pace them. */
  live: boolean
  /** Silence longer than this means that it is lost. */
  silenceMs: number | undefined
  /** What a failure of its elements means. */
  fault(error: GstError): Fault
}

/** Throws a Fault for what can be told before anything plays. */
export async function openOrigin(
  wanted: Pick<WantedSource, 'type' | 'address'>,
  mediaRoots: readonly string[],
): Promise<Origin> {
  if (wanted.type === 'video') return openCamera(wanted.address)
  if (wanted.type === 'inf' && wanted.address.url.startsWith('test:')) return openPattern(wanted.address.url)
  return openFile(wanted.address.url, mediaRoots)
}
