import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { PlaybackFragment } from './playback-fragment.ts'
import type { ReceivedFragment } from './recording-requests.ts'

/** A fragment, with its times in the joined recording. */
export interface SplicedFragment extends PlaybackFragment {
  /** Seconds to add to the times in its bytes. */
  offsetS: number
}

/**
 * Joins the responses to successive requests for parts of a recording.
 *
 * The times of each response start at 0, and only the media service knows how long a gap between
 * two fragments is. Each request therefore starts with the last fragment of the previous response,
 * whose place is known. The last fragment of a response is withheld until it has been received
 * again, because only then its last frame lasts until the next fragment.
 */
export interface FragmentSplicer {
  /** The number of different fragments received so far. */
  readonly count: number
  /** The newest fragment. The next request must start at the time at which it was captured. */
  readonly newest: SplicedFragment | undefined
  startResponse(): void
  /** Returns the fragments that follow those returned before, if there are any. */
  splice(fragment: ReceivedFragment): SplicedFragment[]
  /** Returns the withheld fragment at the end of the recording. */
  finish(): SplicedFragment[]
}

export function createFragmentSplicer(): FragmentSplicer {
  /** Identifies the fragments received so far by their capture times. */
  const received = new Set<number>()
  let newest: SplicedFragment | undefined
  let isWithheld = false
  /** Added to the times of the current response. Undefined until it continues the recording. */
  let offsetTicks: number | undefined = 0

  /** Returns the newest fragment if it has not been returned. */
  function finish(): SplicedFragment[] {
    const withheld = newest && isWithheld ? [newest] : []
    isWithheld = false
    return withheld
  }

  /** Places a fragment. Returns the withheld one if it is not received again. */
  function place(fragment: ReceivedFragment, before: SplicedFragment): SplicedFragment[] {
    const isSame = fragment.capturedMs === before.capturedMs
    const { start, end } = before.decoding
    offsetTicks = (isSame ? start : end) - fragment.decoding.start
    return isSame ? [] : finish()
  }

  return {
    get count() {
      return received.size
    },
    get newest() {
      return newest
    },
    startResponse() {
      if (newest) offsetTicks = undefined
    },

    splice(fragment) {
      const spliced: SplicedFragment[] = []
      const isNewest = newest?.capturedMs === fragment.capturedMs
      if (newest && offsetTicks === undefined) {
        // A response starts with a keyframe, which may be in an earlier fragment. A fragment that
        // is captured earlier but was not received yet follows a clock that was set back.
        if (received.has(fragment.capturedMs) && !isNewest) return []
        spliced.push(...place(fragment, newest))
        if (isNewest && !isWithheld) return []
      }

      newest = shift(fragment, offsetTicks!)
      isWithheld = fragment.isLast
      if (!isWithheld) spliced.push(newest)
      received.add(fragment.capturedMs)
      return spliced
    },

    finish,
  }
}

const shift = (
  { frames, end, originMs, decoding, ...fragment }: PlaybackFragment,
  ticks: number,
): SplicedFragment => ({
  ...fragment,
  frames: frames.map(frame => frame + ticks),
  end: end + ticks,
  originMs: originMs - (ticks / TICKS_PER_SECOND) * 1000,
  decoding: { start: decoding.start + ticks, end: decoding.end + ticks },
  offsetS: ticks / TICKS_PER_SECOND,
})
