import type { PictureStatistics } from '@eyrie/contract'
import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import type { Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import type { FrameReader } from './decoding.ts'
import { createPictureBranch } from './picture-branch.ts'
import { EXAMINED_SIZE, measurePicture } from './picture-measure.ts'

/**
 * Examines decoded pictures about once per second, so that a black, frozen, defocused or
 * moved camera is noticed.
 */
export interface PictureInspector extends FrameReader {
  /** Returns the statistics of the newest pictures; undefined while none are decoded. */
  statistics(): PictureStatistics | undefined
}

/** Time between two examinations. */
const INTERVAL_MS = 1000
/**
 * Statistics that were not confirmed for this time are obsolete, because no more pictures arrive.
 */
const MAX_AGE_MS = 5000
const SINK = `${AUXILIARY}inspect-sink`

/** The last examined picture. Times are monotonic. */
interface Examination {
  luma: Uint8Array
  result: Omit<PictureStatistics, 'still_s'>
  /** When this picture was first received. */
  sinceMs: number
  /** When this picture, or an identical one, was last received. */
  confirmedAtMs: number
}

/** `clock` is the monotonic clock of the service. */
export function createPictureInspector(clock: Pick<Clock, 'now'>): PictureInspector {
  let last: Examination | undefined
  let heldSample: Sample | undefined
  let releaseTimer: NodeJS.Timeout | undefined

  function examine(luma: Uint8Array) {
    const nowMs = clock.now()
    if (last && Buffer.compare(luma, last.luma) === 0) {
      last.confirmedAtMs = nowMs
      return
    }
    // Copied, because the buffer belongs to GStreamer.
    const copy = Uint8Array.from(luma)
    last = { luma: copy, result: describePicture(copy), sinceMs: nowMs, confirmedAtMs: nowMs }
  }

  /**
   * Pauses the branch: while a sample is held, the queue drops all other pictures
   * before they are scaled.
   */
  function hold(sample: Sample) {
    heldSample = sample
    releaseTimer = setTimeout(release, INTERVAL_MS)
  }

  function release() {
    clearTimeout(releaseTimer)
    heldSample?.release()
    heldSample = undefined
  }

  const branch = createPictureBranch({
    getSize: () => EXAMINED_SIZE,
    describeBranch: size => ({
      launch: createLaunch(size),
      sink: SINK,
      options: { queue: 1, full: 'block' },
    }),
    onSample(sample) {
      if (sample.data.length === EXAMINED_SIZE.width * EXAMINED_SIZE.height) examine(sample.data)
      hold(sample)
    },
  })

  return {
    tee: 'frames',
    attach: branch.attach,
    detach() {
      release()
      branch.detach()
    },
    async close() {
      release()
      last = undefined
      await branch.remove()
    },
    statistics() {
      if (!last || clock.now() - last.confirmedAtMs > MAX_AGE_MS) return undefined
      return { ...last.result, still_s: round((last.confirmedAtMs - last.sinceMs) / 1000, 1) }
    },
  }
}

/** Measures a picture and rounds the results for the report. The edges are encoded in base64. */
function describePicture(luma: Uint8Array): Examination['result'] {
  const { brightness, contrast, sharpness, edges } = measurePicture(luma)
  return {
    brightness: round(brightness, 1),
    contrast: round(contrast, 1),
    sharpness: round(sharpness, 4),
    edges: Buffer.from(edges.buffer).toString('base64'),
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

function createLaunch({ width, height }: typeof EXAMINED_SIZE): string {
  return [
    errorGuard('inspect'),
    `queue name=${AUXILIARY}inspect leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0`,
    // The nearest pixels retain fine details and noise, by which a still scene differs
    // from a frozen picture.
    `videoscale name=${AUXILIARY}inspect-scale method=nearest-neighbour add-borders=false`,
    `video/x-raw,width=${width},height=${height}`,
    `videoconvert name=${AUXILIARY}inspect-convert`,
    'video/x-raw,format=GRAY8',
    `appsink name=${SINK} sync=false async=false`,
  ].join(' ! ')
}
