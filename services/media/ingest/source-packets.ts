import { TICKS_PER_SECOND } from '@eyrie/contract'
import { softwareDecoder } from '../decode/decoders.ts'
import { type Picture, parsePicture } from '../gstreamer/picture.ts'
import type { Caps, Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import type { StreamWriter, Track } from '../stream/live-stream.ts'

const FPS_ASSUMED = 25

export interface PacketListener {
  /** The picture is other than before, or seen for the first time in this session. */
  onPicture(picture: Picture): void
  onPacket(pts: number): void
}

/** Follows a source's packets through its sessions: passes them to the live view and keeps the stream's time. */
export interface SourcePackets {
  read(sample: Sample): void
  /** Stream time at which the next session is to begin: no earlier than all that was, a live one as much later as it was away. */
  nextPts(live: boolean): number
  /** Stream time that is later than all that was. */
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
  let lastAt: number | undefined
  let frameTicks = TICKS_PER_SECOND / FPS_ASSUMED
  let passing = false

  function look(caps: Caps) {
    const picture = parsePicture(caps)
    if (!picture) return
    if (picture.fps) frameTicks = Math.round(TICKS_PER_SECOND / picture.fps)
    listener.onPicture(picture)
    const track = trackOf(picture, caps)
    passing = track !== undefined
    if (track) stream.begin(track)
  }

  return {
    read(sample) {
      if (sample.caps) look(sample.caps)
      const { pts, dts, duration, keyframe, data, timeUs } = sample
      if (pts === null) return
      count++
      lastAt = clock.now()
      endPts = Math.max(endPts, pts + (duration ?? frameTicks))
      if (passing) {
        if (sample.discont) stream.interrupt()
        stream.write({
          ...{ pts, dts: dts ?? pts, duration: duration ?? frameTicks, keyframe, data },
          timeUs: timeUs ?? undefined,
        })
      }
      listener.onPacket(pts)
    },
    nextPts(live) {
      if (!live || lastAt === undefined) return endPts
      return endPts + Math.round(((clock.now() - lastAt) * TICKS_PER_SECOND) / 1000)
    },
    endPts: () => endPts,
    count: () => count,
  }
}

/** Undefined where packets are not kept, since pictures are sooner made of the source's once more. */
function trackOf(picture: Picture, { fields, text }: Caps): Track | undefined {
  const configuration = fields.codec_data
  if (configuration instanceof Uint8Array) {
    if (picture.codec === 'h264') return { ...picture, avcC: configuration }
    if (picture.codec === 'h265') return { ...picture, hvcC: configuration }
  }
  return softwareDecoder(picture.codec) ? { codec: picture.codec, caps: text } : undefined
}
