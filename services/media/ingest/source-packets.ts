import { TICKS_PER_SECOND } from '@eyrie/contract'
import { findSoftwareDecoder } from '../decode/decoders.ts'
import { type Picture, parsePicture } from '../gstreamer/picture.ts'
import type { Caps, Sample } from '../node-gst/index.ts'
import type { StreamWriter, Track } from '../stream/live-stream.ts'
import type { StreamPosition } from './stream-position.ts'

const DEFAULT_FPS = 25

/** Receives notifications about the packets of a source. */
export interface PacketListener {
  /**
   * Called when the size or format of the picture becomes known in a session, and when it changes.
   */
  onPicture(picture: Picture): void
  onPacket(pts: number): void
}

/**
 * Passes the packets of a source, which are its coded pictures, to its live view. A source plays in
 * sessions, one per connection. Stream time continues from one session to the next.
 */
export interface SourcePackets {
  /** Must be called for each packet. Does not release it. */
  read(sample: Sample): void
  /** Returns the number of packets in all sessions. */
  count(): number
}

export function createSourcePackets(
  stream: StreamWriter<Track>,
  position: Pick<StreamPosition, 'advanceTo'>,
  listener: PacketListener,
): SourcePackets {
  let count = 0
  /** Duration of packets that do not declare one. */
  let frameTicks = TICKS_PER_SECOND / DEFAULT_FPS
  /** Whether the packets can be shown in the live view. */
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

  function writeToStream(sample: Sample, pts: number, duration: number) {
    const { keyframe, data, discont, timeUs } = sample
    if (discont) stream.interrupt()
    stream.write({
      pts,
      dts: sample.dts ?? pts,
      duration,
      keyframe,
      data,
      timeUs: timeUs ?? undefined,
    })
  }

  return {
    read(sample) {
      if (sample.caps) updateTrack(sample.caps)
      const { pts } = sample
      if (pts === null) return

      const duration = sample.duration ?? frameTicks
      count++
      position.advanceTo(pts + duration)
      if (hasTrack) writeToStream(sample, pts, duration)
      listener.onPacket(pts)
    },

    count: () => count,
  }
}

/**
 * Creates the description of the video for the live view. Returns undefined for raw video and for
 * codecs without a software decoder, whose packets are not passed on.
 */
function createTrack(picture: Picture, { fields, text }: Caps): Track | undefined {
  const configuration = fields.codec_data
  if (configuration instanceof Uint8Array) {
    if (picture.codec === 'h264') return { ...picture, avcC: configuration }
    if (picture.codec === 'h265') return { ...picture, hvcC: configuration }
  }
  return findSoftwareDecoder(picture.codec) ? { codec: picture.codec, caps: text } : undefined
}
