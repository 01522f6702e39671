import type { Fragment } from './live-fragment.ts'

/**
 * The pts up to which all frames have arrived. With B-frames the newest pts jumps back and forth, so the watermark is
 * the newest dts plus the smallest pts-dts offset of recent frames, which grows steadily.
 */
export interface PtsWatermark {
  add(fragment: Pick<Fragment, 'pts' | 'dts'>): void
  /** Undefined before the first frame. */
  value(): number | undefined
}

const MAX_OFFSETS = 100

export function createPtsWatermark(): PtsWatermark {
  const offsets: number[] = []
  let newestDts: number | undefined
  return {
    add({ pts, dts }) {
      newestDts = dts
      offsets.push(pts - dts)
      if (offsets.length > MAX_OFFSETS) offsets.shift()
    },
    value: () => (newestDts === undefined ? undefined : newestDts + Math.min(...offsets)),
  }
}
