import type { MessageFromMedia } from '@eyrie/contract/media'

/**
 * The results of another engine for a frame. A source can be the output of another (upstream)
 * engine, whose results arrive together with the frames.
 */
export type UpstreamResult = Omit<
  Extract<MessageFromMedia, { type: 'findings' }>,
  'type' | 'source'
>

/**
 * More than the number of frames in a ring, so that results are available as long as their frames.
 */
const MAX_RESULTS = 512

/** Buffers the upstream results of a source until the channels have read the frames. */
export class UpstreamResults {
  #results: UpstreamResult[] = []

  add(result: UpstreamResult): void {
    this.#results.push(result)
    if (this.#results.length > MAX_RESULTS) this.#results.shift()
  }

  /**
   * Returns the result of the frame with the timestamp `pts`. `previousPts` is that of the last
   * frame that the reader has processed. The events and discontinuities of the frames between the
   * two, which the reader skipped, are included.
   */
  find(pts: number, previousPts = pts - 1): UpstreamResult | undefined {
    const newResults = this.#results.filter(result => result.pts > previousPts && result.pts <= pts)
    const current = newResults.at(-1)
    if (current?.pts !== pts) return undefined
    return {
      ...current,
      events: newResults.flatMap(({ events }) => events),
      discontinuity: newResults.some(({ discontinuity }) => discontinuity),
    }
  }
}
