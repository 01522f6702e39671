import type { Fragment } from './live-fragment.ts'

/**
 * The presentation time (pts) up to which all frames of a stream have arrived. Frames arrive in the
 * order of their decoding time (dts). With B-frames, this is not the order of presentation, so the
 * pts of the newest frame jumps back and forth.
 *
 * The watermark grows steadily: it is the newest dts plus the smallest difference between pts and
 * dts of recent frames.
 */
export interface PtsWatermark {
  add(fragment: Pick<Fragment, 'pts' | 'dts'>): void
  /** Undefined before the first frame. */
  value(): number | undefined
}

const MAX_OFFSETS = 100

export function createPtsWatermark(): PtsWatermark {
  /** Differences between pts and dts of the last frames. */
  const offsets: number[] = []
  let newestDts: number | undefined
  return {
    add({ pts, dts }) {
      newestDts = dts
      offsets.push(pts - dts)
      if (offsets.length > MAX_OFFSETS) offsets.shift()
    },
    value() {
      return newestDts === undefined ? undefined : newestDts + Math.min(...offsets)
    },
  }
}
