import type { MessageFromMedia } from '@eyrie/contract/media'

/** Results that another engine sent along with a frame. */
export type UpstreamResult = Omit<Extract<MessageFromMedia, { type: 'findings' }>, 'type' | 'source'>

/** A frame ring holds fewer frames than this. */
const MAX_RESULTS = 512

/** Buffers the results that arrive with the frames of a source until its channels read those frames. */
export class UpstreamResults {
  #results: UpstreamResult[] = []

  add(result: UpstreamResult): void {
    this.#results.push(result)
    if (this.#results.length > MAX_RESULTS) this.#results.shift()
  }

  /**
   * The result of the frame at `pts`. Events and discontinuities of the frames after `after`, which the reader skipped,
   * are included.
   */
  find(pts: number, after = pts - 1): UpstreamResult | undefined {
    const skippedAndOwn = this.#results.filter(result => result.pts > after && result.pts <= pts)
    const own = skippedAndOwn.at(-1)
    if (own?.pts !== pts) return undefined
    return {
      ...own,
      events: skippedAndOwn.flatMap(({ events }) => events),
      discontinuity: skippedAndOwn.some(({ discontinuity }) => discontinuity),
    }
  }
}
