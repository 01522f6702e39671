import type { FrameReader } from '../../decode/decoding.ts'
import { createPictureBranch } from '../../decode/picture-branch.ts'
import { displaySize, type Picture } from '../../gstreamer/picture.ts'

/** A decoded picture in YV12, rows packed. `pts` in 90 kHz ticks of stream time. */
export interface Frame {
  n: number
  pts: number
  width: number
  height: number
  fps: number
  data: Uint8Array
}

const MOST_WIDTH = 1280
const FPS_ASSUMED = 25
/** How long results may take. */
const SECONDS_KEPT = 2
const MOST_BYTES = 64 << 20
const SINK = 'annotated'

/** Frames of a source that wait for what is to be drawn into them; the oldest go first. */
export interface FrameBuffer extends FrameReader {
  /** The frame of this number, if it is there; those before it are given up. */
  take(n: number): Frame | undefined
  /** Number of the newest frame that has come; 0 before the first. */
  newest(): number
}

/** `name` is unique among the source's readers; `onFrame` is called when another has come. */
export function createFrameBuffer(name: string, onFrame: () => void): FrameBuffer {
  const held = new Map<number, Frame>()
  const sink = `${SINK}-${name}`
  let kind = { width: 0, height: 0, fps: FPS_ASSUMED }
  let newest = 0

  const branch = createPictureBranch({
    sizeFor,
    begin(size, picture) {
      kind = { ...size, fps: picture.fps ?? FPS_ASSUMED }
      return { launch: launch(sink, size), sink, options: { queue: 4, full: 'drop-oldest' } }
    },
    onSample(sample) {
      const { offset: n, pts, data } = sample
      const bytes = (kind.width * kind.height * 3) / 2
      if (n !== null && pts !== null && data.length === bytes) {
        // A copy, since some decoders have only few buffers to lend.
        held.set(n, { n, pts, ...kind, data: Uint8Array.from(data) })
        newest = n
      }
      sample.release()
      const most = Math.max(4, Math.min(Math.ceil(kind.fps * SECONDS_KEPT), Math.floor(MOST_BYTES / bytes)))
      for (const oldest of held.keys()) if (held.size > most) held.delete(oldest)
      onFrame()
    },
  })

  return {
    tee: 'frames',
    join: branch.join,
    part: branch.part,
    async close() {
      held.clear()
      await branch.leave()
    },
    take(n) {
      const frame = held.get(n)
      for (const older of held.keys()) if (older <= n) held.delete(older)
      return frame
    },
    newest: () => newest,
  }
}

/** Rows are packed where the width is a multiple of eight; what is drawn knows no pixels. */
function sizeFor(picture: Picture): { width: number; height: number } {
  const shown = displaySize(picture)
  const scale = Math.min(1, MOST_WIDTH / shown.width)
  return { width: multiple(shown.width * scale, 8), height: multiple(shown.height * scale, 2) }
}

const multiple = (pixels: number, of: number) => Math.max(of, Math.round(pixels / of) * of)

function launch(sink: string, { width, height }: { width: number; height: number }): string {
  return [
    'queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0',
    'videoscale add-borders=false',
    `video/x-raw,width=${width},height=${height},pixel-aspect-ratio=1/1`,
    'videoconvert',
    // No decoder's format, so that it is always a copy: a decoder's own memory may hold more rows than the picture.
    'video/x-raw,format=YV12',
    `appsink name=${sink} sync=false async=false`,
  ].join(' ! ')
}
