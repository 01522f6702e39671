import { type AddressObject, type DesiredSource, parseVideoDevice } from '@eyrie/contract'
import type { Clock } from '../clock.ts'
import type { GstError, Pipeline } from '../node-gst/index.ts'
import type { Picture } from '../picture.ts'
import { openCamera } from './camera.ts'
import { openDevice } from './device.ts'
import type { Fault } from './fault.ts'
import { openFile } from './file.ts'
import { openHttp } from './http.ts'
import { openPattern } from './pattern.ts'

/** Where a session gets its packets from. */
export interface Origin {
  /** Its address without credentials. */
  name: string
  /**
   * Elements up to coded video, the first of which is named `origin`: either H.264 or H.265 for sure, or whatever there is,
   * parsed. Neither addresses nor secrets are in it.
   */
  elements: { h264: string; h265?: string; any: string }
  /** Elements that take its sound, if it has any, beside those for its video. */
  sound?: string
  /** Sets what does not belong into a launch string. */
  configure(pipeline: Pipeline): void
  /** What comes, where that is known beforehand. */
  picture: Picture | undefined
  /** Frames come when they are taken, so that nobody has to pace them. */
  live: boolean
  /**
   * Where its own time does not begin at 0: `begins`, in 90 kHz ticks of running time, is that of its first picture, and
   * `anchorUs` the wall clock, in µs since 1970, at running time 0, where that is known.
   */
  timeline?: { begins: number; anchorUs: number | undefined } | undefined
  /** It comes by RTP, which keeps statistics. */
  rtp?: boolean
  /** Silence longer than this means that it is lost. */
  silenceMs: number | undefined
  /** Whether a failure says that H.264 cannot be had, while something else may. */
  hasNoH264?(error: GstError): boolean
  /** What a failure of its elements means. */
  fault(error: GstError): Fault | Promise<Fault>
}

/** What the opening of an origin may need. */
export interface Opening {
  /** Folders from which files may be read. */
  mediaRoots: readonly string[]
  clock: Clock
  /** Fires when it is no longer wanted. */
  signal: AbortSignal
}

/** Throws a Fault for what can be told before anything plays. */
export async function openOrigin(
  { type, address }: Pick<DesiredSource, 'type' | 'address'>,
  opening: Opening,
): Promise<Origin> {
  const { url } = address
  if (type === 'video') return openVideo(address, opening)
  if (type === 'hosted_video') return openHttp(address, opening)
  if (type === 'inf' && url.startsWith('test:')) return openPattern(url)
  return openFile(url, opening.mediaRoots)
}

async function openVideo(address: AddressObject, opening: Opening): Promise<Origin> {
  const device = parseVideoDevice(address.url)
  if (device) return openDevice(device)
  return /^https?:/i.test(address.url) ? openHttp(address, opening) : openCamera(address, opening.signal)
}
