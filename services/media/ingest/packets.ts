import type { Clock } from '../clock.ts'
import type { Stream } from '../live/stream.ts'
import type { Caps, Sample } from '../node-gst/index.ts'
import { type Picture, pictureOf } from '../picture.ts'

const TICKS_PER_SECOND = 90_000
const FPS_ASSUMED = 25

export interface PacketListener {
  /** The picture is other than before, or seen for the first time in this session. */
  onPicture(picture: Picture): void
  onPacket(): void
}

/** Follows a source's packets through its sessions: passes them to the live view and keeps the stream's time. */
export interface Packets {
  read(sample: Sample): void
  /** Stream time at which the next session is to begin: no earlier than all that was, a live one as much later as it was away. */
  nextPts(live: boolean): number
  count(): number
}

export function createPackets(stream: Stream, clock: Clock, listener: PacketListener): Packets {
  let count = 0
  let endPts = 0
  let lastAt: number | undefined
  let frameTicks = TICKS_PER_SECOND / FPS_ASSUMED
  let passing = false

  function look(caps: Caps) {
    const picture = pictureOf(caps)
    if (!picture) return
    if (picture.fps) frameTicks = Math.round(TICKS_PER_SECOND / picture.fps)
    const avcC = caps.fields.codec_data
    passing = picture.codec === 'h264' && avcC instanceof Uint8Array
    if (passing) stream.begin({ ...picture, avcC: avcC as Uint8Array })
    listener.onPicture(picture)
  }

  return {
    read(sample) {
      if (sample.caps) look(sample.caps)
      const { pts, dts, duration, keyframe, data } = sample
      if (pts === null) return
      count++
      lastAt = clock.now()
      endPts = Math.max(endPts, pts + (duration ?? frameTicks))
      if (passing) {
        if (sample.discont) stream.interrupt()
        stream.write({ pts, dts: dts ?? pts, duration: duration ?? frameTicks, keyframe, data })
      }
      listener.onPacket()
    },
    nextPts(live) {
      if (!live || lastAt === undefined) return endPts
      return endPts + Math.round(((clock.now() - lastAt) * TICKS_PER_SECOND) / 1000)
    },
    count: () => count,
  }
}
