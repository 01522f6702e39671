import { setTimeout as wait } from 'node:timers/promises'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { fetchService } from '@eyrie/kit'
import { Semaphore } from 'async-mutex'

/** A frame of a source as JPEG, and its timestamp in 90 kHz ticks. */
export interface FramePicture {
  jpeg: Uint8Array
  pts: number
}

/**
 * Loads the frame of a source with the timestamp `pts` (90 kHz ticks), or the nearest frame within
 * one second. Rejects if the media service does not return such a frame in time.
 */
export type LoadFramePicture = (source: number, pts: number) => Promise<FramePicture>

const TICKS_PER_MS = TICKS_PER_SECOND / 1000
const MAX_DISTANCE_TICKS = MAX_PICTURE_OFFSET_MS * TICKS_PER_MS
/**
 * Time limit of a request. Decoding takes seconds on an overloaded machine, and a late picture is
 * better than none. The media service buffers no frame for longer (setting `snapshot_s`).
 */
const TIMEOUT_MS = 60_000
/**
 * The media service rejects more than this number of requests at a time. Further requests wait
 * here.
 */
const MAX_CONCURRENT = 8
const RETRY_MS = 500
/** HTTP status of a request that the media service is too busy for. */
const TOO_BUSY = 503

/**
 * Whether a picture of one frame may show an event of another frame. Times are in 90 kHz
 * ticks of the same epoch.
 */
export const isSameMoment = (pts: number, otherPts: number) =>
  Math.abs(pts - otherPts) <= MAX_DISTANCE_TICKS

/** Address of the media service and the token for its API. */
export interface MediaAccess {
  /** Base URL, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
}

/**
 * Creates a loader of pictures from live streams. The media service buffers the
 * packets of each stream.
 */
export function createFramePictureLoader({ url, token }: MediaAccess): LoadFramePicture {
  const semaphore = new Semaphore(MAX_CONCURRENT)

  /**
   * Requests a picture. Repeats the request while the media service is too busy. Rejects when
   * the signal is aborted.
   */
  async function request(source: number, pts: number, signal: AbortSignal): Promise<Response> {
    for (;;) {
      signal.throwIfAborted()
      const response = await fetchService(url, `/streams/${source}/snapshot.jpg?pts=${pts}`, {
        headers: token ? { Authorization: `Bearer ${token}` } : {},
        signal,
      })
      if (response.status !== TOO_BUSY) return response
      await response.body?.cancel()
      await wait(RETRY_MS, undefined, { signal, ref: false })
    }
  }

  return async (source, pts) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await semaphore.runExclusive(() => request(source, pts, signal))
    if (!response.ok) throw new Error(`media answered ${response.status}: ${await response.text()}`)

    const jpeg = new Uint8Array(await response.arrayBuffer())
    const actualPts = Number(response.headers.get('X-Pts'))
    if (!isSameMoment(actualPts, pts)) {
      throw new Error(`media no longer has the frame at ${pts}: the nearest is at ${actualPts}`)
    }
    return { jpeg, pts: actualPts }
  }
}
