import type { PictureStatistics } from '@eyrie/contract'
import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import type { Sample } from '../node-gst/index.ts'
import type { Clock } from '../runtime/clock.ts'
import type { FrameReader } from './decoding.ts'
import { createPictureBranch } from './picture-branch.ts'
import { EXAMINED_SIZE, measurePicture } from './picture-measure.ts'

/** Examines decoded pictures about once per second, so that a black, frozen, defocused or moved camera is noticed. */
export interface PictureInspector extends FrameReader {
  /** Returns the statistics of the newest pictures; undefined while none are decoded. */
  statistics(): PictureStatistics | undefined
}

const INTERVAL_MS = 1000
/** Older statistics are obsolete, because no more pictures arrive. */
const MAX_AGE_MS = 5000
const SINK = `${AUXILIARY}inspect-sink`

/** `clock` is the monotonic clock of the service. */
export function createPictureInspector(clock: Pick<Clock, 'now'>): PictureInspector {
  let last:
    | { luma: Uint8Array; atMs: number; sinceMs: number; result: Omit<PictureStatistics, 'still_s'> }
    | undefined
  let held: Sample | undefined
  let timer: NodeJS.Timeout | undefined

  function examine(luma: Uint8Array) {
    const atMs = clock.now()
    if (last && Buffer.compare(luma, last.luma) === 0) {
      last.atMs = atMs
      return
    }
    const { edges, ...measures } = measurePicture(luma)
    const result = {
      brightness: round(measures.brightness, 1),
      contrast: round(measures.contrast, 1),
      sharpness: round(measures.sharpness, 4),
      edges: Buffer.from(edges.buffer).toString('base64'),
    }
    // Copied, because the buffer belongs to GStreamer.
    last = { luma: Uint8Array.from(luma), atMs, sinceMs: atMs, result }
  }

  function release() {
    clearTimeout(timer)
    held?.release()
    held = undefined
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
      // While the sample is held, the branch scales no other picture: its queue drops them.
      held = sample
      timer = setTimeout(release, INTERVAL_MS)
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
      if (!last || clock.now() - last.atMs > MAX_AGE_MS) return undefined
      return { ...last.result, still_s: round((last.atMs - last.sinceMs) / 1000, 1) }
    },
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

function createLaunch({ width, height }: typeof EXAMINED_SIZE): string {
  return [
    errorGuard('inspect'),
    `queue name=${AUXILIARY}inspect leaky=downstream max-size-buffers=1 max-size-bytes=0 max-size-time=0`,
    // The nearest pixels retain fine details and noise, by which a still scene differs from a frozen picture.
    `videoscale name=${AUXILIARY}inspect-scale method=nearest-neighbour add-borders=false`,
    `video/x-raw,width=${width},height=${height}`,
    `videoconvert name=${AUXILIARY}inspect-convert`,
    'video/x-raw,format=GRAY8',
    `appsink name=${SINK} sync=false async=false`,
  ].join(' ! ')
}
