import type { FrameReader } from '../../decode/decoding.ts'
import { createPictureBranch } from '../../decode/picture-branch.ts'
import { displaySize, type Picture } from '../../gstreamer/picture.ts'

/** A decoded picture in YV12 with packed rows. `pts` in 90 kHz ticks of stream time. */
export interface Frame {
  n: number
  pts: number
  width: number
  height: number
  fps: number
  data: Uint8Array
}

const MAX_WIDTH = 1280
/** For sources that do not declare their frame rate. */
const DEFAULT_FPS = 25
/** Time in which the results of a frame arrive. */
const RETAINED_S = 2
const MIN_FRAMES = 4
const MAX_BYTES = 64 << 20

/** The most recent decoded frames of a source, which wait for their drawings. */
export interface FrameBuffer extends FrameReader {
  /** Removes and returns the frame with this number, if it is in the buffer. Also drops all earlier frames. */
  claim(n: number): Frame | undefined
  /** Number of the newest frame; 0 before the first. */
  newestNumber(): number
}

/** `name` must be unique among the source's readers. `onFrame` is called for every decoded frame. */
export function createFrameBuffer(name: string, onFrame: () => void): FrameBuffer {
  const frames = new Map<number, Frame>()
  const sink = `annotated-${name}`
  let format = { width: 0, height: 0, fps: DEFAULT_FPS }
  let newest = 0

  function dropOldest(frameBytes: number) {
    const fitting = Math.min(Math.ceil(format.fps * RETAINED_S), Math.floor(MAX_BYTES / frameBytes))
    const maxFrames = Math.max(MIN_FRAMES, fitting)
    for (const oldest of frames.keys()) {
      if (frames.size <= maxFrames) return
      frames.delete(oldest)
    }
  }

  const branch = createPictureBranch({
    getSize: fitPicture,
    describeBranch(size, picture) {
      format = { ...size, fps: picture.fps ?? DEFAULT_FPS }
      return { launch: createLaunch(sink, size), sink, options: { queue: 4, full: 'drop-oldest' } }
    },
    onSample(sample) {
      const { offset: n, pts, data } = sample
      const frameBytes = (format.width * format.height * 3) / 2
      if (n !== null && pts !== null && data.length === frameBytes) {
        // Copied because some decoders have only few buffers.
        frames.set(n, { n, pts, ...format, data: Uint8Array.from(data) })
        newest = n
      }
      sample.release()
      dropOldest(frameBytes)
      onFrame()
    },
  })

  return {
    tee: 'frames',
    attach: branch.attach,
    detach: branch.detach,
    async close() {
      frames.clear()
      await branch.remove()
    },
    claim(n) {
      const frame = frames.get(n)
      for (const number of frames.keys()) if (number <= n) frames.delete(number)
      return frame
    },
    newestNumber: () => newest,
  }
}

/** Scales to square pixels. GStreamer packs rows only if the width is a multiple of eight. */
function fitPicture(picture: Picture): { width: number; height: number } {
  const display = displaySize(picture)
  const scale = Math.min(1, MAX_WIDTH / display.width)
  return { width: roundTo(8, display.width * scale), height: roundTo(2, display.height * scale) }
}

const roundTo = (multiple: number, pixels: number) =>
  Math.max(multiple, Math.round(pixels / multiple) * multiple)

function createLaunch(sink: string, { width, height }: { width: number; height: number }): string {
  return [
    'queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0',
    'videoscale add-borders=false',
    `video/x-raw,width=${width},height=${height},pixel-aspect-ratio=1/1`,
    'videoconvert',
    // No decoder outputs YV12, so this is always a copy: a decoder's own buffer may have more rows than the picture.
    'video/x-raw,format=YV12',
    `appsink name=${sink} sync=false async=false`,
  ].join(' ! ')
}
