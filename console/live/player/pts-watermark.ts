import type { Fragment } from './live-fragment.ts'

/**
 * How far a stream has come, in a measure that grows evenly: pictures that are decoded before they are shown make the
 * newest pts leap to and fro, so this is the newest decoding time, and as much later as every recent picture was shown.
 */
export interface Reach {
  add(fragment: Pick<Fragment, 'pts' | 'dts'>): void
  /** All pictures before this have come. Undefined before the first. */
  pts(): number | undefined
}

const RECENT = 100

export function createReach(): Reach {
  const offsets: number[] = []
  let newestDts: number | undefined
  return {
    add({ pts, dts }) {
      newestDts = dts
      offsets.push(pts - dts)
      if (offsets.length > RECENT) offsets.shift()
    },
    pts: () => (newestDts === undefined ? undefined : newestDts + Math.min(...offsets)),
  }
}
