import type { MessageFromMedia } from '@eyrie/contract/media'

/** What another engine has found in a frame that it has sent. */
export type Found = Omit<Extract<MessageFromMedia, { type: 'findings' }>, 'type' | 'source'>

/** Frames lie in their rings for no longer. */
const MOST_KEPT = 512

/** What came with the frames of a source, for the channels that come to them later. */
export class Findings {
  #found: Found[] = []

  add(found: Found): void {
    this.#found.push(found)
    if (this.#found.length > MOST_KEPT) this.#found.shift()
  }

  /**
   * What came with the frame of this `pts`; events and interruptions also of the frames after `after`, which the reader
   * has passed over.
   */
  at(pts: number, after = pts - 1): Found | undefined {
    const passed = this.#found.filter(found => found.pts > after && found.pts <= pts)
    const own = passed.at(-1)
    if (own?.pts !== pts) return undefined
    return {
      ...own,
      events: passed.flatMap(({ events }) => events),
      discontinuity: passed.some(({ discontinuity }) => discontinuity),
    }
  }
}
