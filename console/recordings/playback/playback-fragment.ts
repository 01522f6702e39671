import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { findBox, readBoxes } from '../../video/mp4-boxes.ts'

/** A fragment of a recording. Times are in 90 kHz ticks of the playback. */
export interface PlaybackFragment {
  bytes: Uint8Array<ArrayBuffer>
  /** Presentation times of its video frames in ascending order; empty for the initialisation segment. */
  frames: number[]
  /** Recording time of tick 0 in ms since 1970, according to this fragment. */
  originMs: number
}

/** Seconds from 1900, where NTP time begins, to 1970. */
const NTP_EPOCH_S = 2_208_988_800
/** NTP seconds overflow in 2036. Values that would be before 1968 belong to the next era (RFC 4330, section 3). */
const NTP_ERA_S = 2 ** 32
const VIDEO_TRACK = 1
/** Duration, size, flags and composition offset. */
const SAMPLE_BYTES = 16

/** Returns a function that splits the bytes of a response into whole fragments. */
export function createFragmentReader(): (chunk: Uint8Array) => PlaybackFragment[] {
  let rest = new Uint8Array()
  return chunk => {
    const bytes = new Uint8Array(rest.length + chunk.length)
    bytes.set(rest)
    bytes.set(chunk, rest.length)
    const fragments: PlaybackFragment[] = []
    let start = 0
    for (const { type, end } of readBoxes(new DataView(bytes.buffer))) {
      if (type !== 'moov' && type !== 'mdat') continue
      fragments.push(parseFragment(bytes.slice(start, end)))
      start = end
    }
    rest = bytes.slice(start)
    return fragments
  }
}

function parseFragment(bytes: Uint8Array<ArrayBuffer>): PlaybackFragment {
  const fragment = new DataView(bytes.buffer)
  const prft = findBox(fragment, ['prft'])
  const traf = findVideoTrack(fragment)
  const tfdt = traf && findBox(traf, ['tfdt'])
  const trun = traf && findBox(traf, ['trun'])
  return {
    bytes,
    originMs: prft ? readOrigin(prft) : Number.NaN,
    frames: tfdt && trun ? readFrames(tfdt, trun) : [],
  }
}

function findVideoTrack(fragment: DataView): DataView | undefined {
  const moof = findBox(fragment, ['moof'])
  if (!moof) return undefined
  for (const { type, payload } of readBoxes(moof))
    if (type === 'traf' && findBox(payload, ['tfhd'])?.getUint32(4) === VIDEO_TRACK) return payload
  return undefined
}

/** Reads a ProducerReferenceTimeBox: an NTP time and the media time that was captured then. */
function readOrigin(prft: DataView): number {
  const ntpSeconds = prft.getUint32(8)
  const unixSeconds = ntpSeconds + (ntpSeconds < NTP_ERA_S / 2 ? NTP_ERA_S : 0) - NTP_EPOCH_S
  const captureS = unixSeconds + prft.getUint32(12) / 2 ** 32
  return (captureS - Number(prft.getBigUint64(16)) / TICKS_PER_SECOND) * 1000
}

/** Reads a run whose samples have all fields. */
function readFrames(tfdt: DataView, trun: DataView): number[] {
  let dts = Number(tfdt.getBigUint64(4))
  const frames = Array.from({ length: trun.getUint32(4) }, (_, i) => {
    const offset = 12 + i * SAMPLE_BYTES
    const pts = dts + trun.getInt32(offset + 12)
    dts += trun.getUint32(offset)
    return pts
  })
  return frames.sort((a, b) => a - b)
}
