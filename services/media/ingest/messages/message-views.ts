import { isDeepStrictEqual } from 'node:util'
import { MINIMAL_VIEW, type ViewSpec } from '@eyrie/contract'
import type { Decoding } from '../../decode/decoding.ts'

/**
 * The views of a source of messages. A sender may send no pictures at all. Then only the minimal
 * view is possible, for readers that need no picture.
 */
export interface MessageViews {
  /**
   * Sets the requested views by key, and the maximum frame rate in frames per second. Those that
   * are not possible follow once the sender sends pictures.
   */
  request(views: Record<string, ViewSpec>, rate: number | undefined): Promise<void>
  /** Must be called for each message. */
  update(hasPicture: boolean): Promise<void>
  /** Returns whether the sender sends pictures, although it may omit some. */
  hasPictures(): boolean
}

export interface MessageViewsOptions {
  decoding: Pick<Decoding, 'setViews'>
  /** Called for each requested view that is not possible. */
  onImpossible(key: string): void
}

/**
 * Number of consecutive messages without a picture after which the sender is assumed
 * to send no pictures.
 */
const MAX_MISSING_PICTURES = 10

export function createMessageViews(options: MessageViewsOptions): MessageViews {
  const { decoding, onImpossible } = options
  let requested: { views: Record<string, ViewSpec>; rate: number | undefined } = {
    views: {},
    rate: undefined,
  }
  let hasPictures = true
  let missingCount = 0

  const isPossible = (spec: ViewSpec) => hasPictures || isDeepStrictEqual(spec, MINIMAL_VIEW)

  async function apply() {
    const possible: Record<string, ViewSpec> = {}
    const impossibleKeys: string[] = []
    for (const [key, spec] of Object.entries(requested.views)) {
      if (isPossible(spec)) possible[key] = spec
      else impossibleKeys.push(key)
    }

    await decoding.setViews(possible, requested.rate)
    for (const key of impossibleKeys) onImpossible(key)
  }

  return {
    request(views, rate) {
      requested = { views, rate }
      return apply()
    },

    async update(hasPicture) {
      missingCount = hasPicture ? 0 : missingCount + 1
      const hadPictures = hasPictures
      hasPictures = hasPicture || (hadPictures && missingCount < MAX_MISSING_PICTURES)
      if (hasPictures !== hadPictures) await apply()
    },

    hasPictures: () => hasPictures,
  }
}
