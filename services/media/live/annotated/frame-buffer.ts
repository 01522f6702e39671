import type { FrameReader } from '../../decode/decoding.ts'
import { createPictureBranch } from '../../decode/picture-branch.ts'
import { displaySize, type Picture } from '../../gstreamer/picture.ts'

/** A decoded picture in YV12 with unpadded rows. */
export interface Frame {
  /** Number of the frame, to which drawings refer. */
  n: number
  /** Stream time in 90 kHz ticks. */
  pts: number
  width: number
  height: number
  fps: number
  data: Uint8Array
}

const MAX_WIDTH = 1280
/** Frame rate of sources that do not declare one. */
const DEFAULT_FPS = 25
/** Time for which frames are retained. The analysis results of a frame arrive within this time. */
const RETAINED_S = 2
const MIN_FRAMES = 4
const MAX_BYTES = 64 << 20

/** Buffers the most recent decoded frames of a source until their drawings arrive. */
export interface FrameBuffer extends FrameReader {
  /**
   * Removes and returns the frame with this number; undefined if it is not in the buffer. Also
   * drops all earlier frames.
   */
  claim(n: number): Frame | undefined
  /** Returns the number of the newest frame; 0 before the first frame. */
  newestNumber(): number
}

/**
 * `name` must be unique among the source's readers. `onFrame` is called for every decoded frame.
 */
export function createFrameBuffer(name: string, onFrame: () => void): FrameBuffer {
  const frames = new Map<number, Frame>()
  const sink = `annotated-${name}`
  /** Size and rate of the frames. */
  let format = { width: 0, height: 0, fps: DEFAULT_FPS }
  let newest = 0

  /** Drops the oldest frames if the buffer has too many. */
  function dropOldest(frameBytes: number) {
    const framesInTime = Math.ceil(format.fps * RETAINED_S)
    const framesInMemory = Math.floor(MAX_BYTES / frameBytes)
    const maxFrames = Math.max(MIN_FRAMES, Math.min(framesInTime, framesInMemory))

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
      // YV12 has 12 bits per pixel.
      const frameBytes = (format.width * format.height * 3) / 2
      if (n !== null && pts !== null && data.length === frameBytes) {
        // Copied, because some decoders have only a few buffers.
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
      for (const buffered of frames.keys()) {
        if (buffered <= n) frames.delete(buffered)
      }
      return frame
    },
    newestNumber: () => newest,
  }
}

/**
 * Returns the output size in square pixels. The width is a multiple of eight, because GStreamer
 * pads rows of other widths.
 */
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
    // No decoder outputs YV12, so pictures are always converted. A decoder's own buffer could have
    // more rows than the picture.
    'video/x-raw,format=YV12',
    `appsink name=${sink} sync=false async=false`,
  ].join(' ! ')
}
