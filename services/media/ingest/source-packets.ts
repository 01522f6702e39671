import { TICKS_PER_SECOND } from '@eyrie/contract'
import { softwareDecoder } from '../decode/decoders.ts'
import { type Picture, parsePicture } from '../gstreamer/picture.ts'
import type { Caps, Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import type { StreamWriter, Track } from '../stream/live-stream.ts'

const DEFAULT_FPS = 25

export interface PacketListener {
  /** The picture's size or format has changed, or is known for the first time in this session. */
  onPicture(picture: Picture): void
  onPacket(pts: number): void
}

/** Passes the packets of a source's sessions to the live view, and continues the stream time across sessions. */
export interface SourcePackets {
  read(sample: Sample): void
  /**
   * Returns the stream time, in 90 kHz ticks, at which the next session begins: after the last packet, and for a live source
   * later by the duration of the interruption.
   */
  nextPts(live: boolean): number
  /** Returns a stream time after the last packet. */
  endPts(): number
  count(): number
}

/** `beginPts`: stream time at which the first session begins. */
export function createSourcePackets(
  stream: StreamWriter<Track>,
  beginPts: number,
  clock: Clock,
  listener: PacketListener,
): SourcePackets {
  let count = 0
  let endPts = beginPts
  let lastArrival: number | undefined
  let frameTicks = TICKS_PER_SECOND / DEFAULT_FPS
  /** Whether packets are written to the live view. */
  let hasTrack = false

  function updateTrack(caps: Caps) {
    const picture = parsePicture(caps)
    if (!picture) return
    if (picture.fps) frameTicks = Math.round(TICKS_PER_SECOND / picture.fps)
    listener.onPicture(picture)
    const track = createTrack(picture, caps)
    hasTrack = track !== undefined
    if (track) stream.begin(track)
  }

  return {
    read(sample) {
      if (sample.caps) updateTrack(sample.caps)
      const { pts, keyframe, data } = sample
      if (pts === null) return
      const duration = sample.duration ?? frameTicks
      count++
      lastArrival = clock.now()
      endPts = Math.max(endPts, pts + duration)
      if (hasTrack) {
        if (sample.discont) stream.interrupt()
        stream.write({
          pts,
          dts: sample.dts ?? pts,
          duration,
          keyframe,
          data,
          timeUs: sample.timeUs ?? undefined,
        })
      }
      listener.onPacket(pts)
    },
    nextPts(live) {
      if (!live || lastArrival === undefined) return endPts
      return endPts + Math.round(((clock.now() - lastArrival) * TICKS_PER_SECOND) / 1000)
    },
    endPts: () => endPts,
    count: () => count,
  }
}

/** Returns undefined for raw video and codecs without a software decoder: their packets are not passed on. */
function createTrack(picture: Picture, { fields, text }: Caps): Track | undefined {
  const configuration = fields.codec_data
  if (configuration instanceof Uint8Array) {
    if (picture.codec === 'h264') return { ...picture, avcC: configuration }
    if (picture.codec === 'h265') return { ...picture, hvcC: configuration }
  }
  return softwareDecoder(picture.codec) ? { codec: picture.codec, caps: text } : undefined
}
