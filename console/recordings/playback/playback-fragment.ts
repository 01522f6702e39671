import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { findBox, readBoxes } from '../../video/mp4-boxes.ts'

/**
 * A fragment of a recording in fragmented MP4 (ISO/IEC 14496-12), or the initialization segment at
 * its start. Presentation times are in ticks of 90 kHz since the start of the loaded recording.
 */
export interface PlaybackFragment {
  bytes: Uint8Array<ArrayBuffer>
  /**
   * Presentation times of the video frames, in ascending order. Empty for the
   * initialization segment.
   */
  frames: number[]
  /** The recording time of tick 0, in ms since 1970. NaN for the initialization segment. */
  originMs: number
  /**
   * The time at which its first frame in decoding order was captured, in ms since 1970. It is
   * different for each fragment, and the same in each response. NaN for the initialization segment.
   */
  capturedMs: number
  /** When the last frame ends. */
  end: number
  /** Where decoding of its frames begins and ends. */
  decoding: { start: number; end: number }
}

/** Seconds between the NTP epoch, 1900, and the Unix epoch, 1970. */
const NTP_EPOCH_S = 2_208_988_800
/**
 * NTP seconds overflow in 2036. Values before the middle of the range belong to the next era
 * (RFC 4330, section 3).
 */
const NTP_ERA_S = 2 ** 32
const VIDEO_TRACK = 1
/** Offset of the first sample in `trun`, after the flags, the sample count and the data offset. */
const FIRST_SAMPLE_OFFSET = 12
/** Size of a sample in `trun`: duration, size, flags and composition offset, with 4 bytes each. */
const SAMPLE_BYTES = 16
const COMPOSITION_OFFSET = 12

/**
 * Returns a function that accepts the next bytes of a response, and returns the
 * fragments that they complete.
 */
export function createFragmentReader(): (chunk: Uint8Array) => PlaybackFragment[] {
  /** The start of a fragment whose remaining bytes have not been received. */
  let incomplete = new Uint8Array()

  return chunk => {
    const bytes = new Uint8Array(incomplete.length + chunk.length)
    bytes.set(incomplete)
    bytes.set(chunk, incomplete.length)

    const fragments: PlaybackFragment[] = []
    let start = 0
    for (const { type, end } of readBoxes(new DataView(bytes.buffer))) {
      // An initialization segment ends with a `moov` box, and a fragment with an `mdat` box.
      if (type !== 'moov' && type !== 'mdat') continue
      fragments.push(parseFragment(bytes.slice(start, end)))
      start = end
    }

    incomplete = bytes.slice(start)
    return fragments
  }
}

export const isInitSegment = ({ capturedMs }: PlaybackFragment) => Number.isNaN(capturedMs)

function parseFragment(bytes: Uint8Array<ArrayBuffer>): PlaybackFragment {
  const fragment = new DataView(bytes.buffer)
  const prft = findBox(fragment, ['prft'])
  const traf = findVideoTrack(fragment)
  const tfdt = traf && findBox(traf, ['tfdt'])
  const trun = traf && findBox(traf, ['trun'])
  return {
    bytes,
    ...(prft ? readCaptureTime(prft) : { originMs: Number.NaN, capturedMs: Number.NaN }),
    ...(tfdt && trun
      ? readFrames(tfdt, trun)
      : { frames: [], end: 0, decoding: { start: 0, end: 0 } }),
  }
}

function findVideoTrack(fragment: DataView): DataView | undefined {
  const moof = findBox(fragment, ['moof'])
  if (!moof) return undefined
  for (const { type, payload } of readBoxes(moof)) {
    if (type === 'traf' && findBox(payload, ['tfhd'])?.getUint32(4) === VIDEO_TRACK) return payload
  }
  return undefined
}

/**
 * Reads a `prft` box (ISO/IEC 14496-12, section 8.16.5), which contains the NTP time at which a
 * media time was captured.
 */
function readCaptureTime(prft: DataView): Pick<PlaybackFragment, 'originMs' | 'capturedMs'> {
  const ntpSeconds = prft.getUint32(8)
  const ntpFraction = prft.getUint32(12) / 2 ** 32
  const mediaTicks = Number(prft.getBigUint64(16))

  const eraStartS = ntpSeconds < NTP_ERA_S / 2 ? NTP_ERA_S : 0
  const capturedS = ntpSeconds + eraStartS - NTP_EPOCH_S + ntpFraction
  return {
    originMs: (capturedS - mediaTicks / TICKS_PER_SECOND) * 1000,
    capturedMs: capturedS * 1000,
  }
}

/**
 * Returns the times of the samples in a `trun` (track run) box. The `tfdt` box contains the
 * decoding time of the first sample. Recordings contain all four fields of every sample.
 */
function readFrames(
  tfdt: DataView,
  trun: DataView,
): Pick<PlaybackFragment, 'frames' | 'end' | 'decoding'> {
  const sampleCount = trun.getUint32(4)
  const frames: number[] = []
  const start = Number(tfdt.getBigUint64(4))
  let decodingTime = start
  let end = 0
  for (let i = 0; i < sampleCount; i++) {
    const sample = FIRST_SAMPLE_OFFSET + i * SAMPLE_BYTES
    const duration = trun.getUint32(sample)
    const presentationTime = decodingTime + trun.getInt32(sample + COMPOSITION_OFFSET)
    frames.push(presentationTime)
    end = Math.max(end, presentationTime + duration)
    decodingTime += duration
  }
  return { frames: frames.sort((a, b) => a - b), end, decoding: { start, end: decodingTime } }
}
