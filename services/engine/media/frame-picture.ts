import { fetchService } from '@eyrie/kit'

/**
 * Loads the frame of a source with exactly the timestamp `pts` (90 kHz ticks) as JPEG. Rejects if the media service does not
 * return the frame in time.
 */
export type LoadFramePicture = (source: number, pts: number) => Promise<Uint8Array>

/** The engine waits for pending pictures when it stops, so the timeout is short. */
const TIMEOUT_MS = 800

/** Address of the media service and the token for its API. */
export interface MediaAccess {
  /** Base URL, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
}

/** Creates a loader of pictures from live streams. The media service buffers each stream back to the last keyframe. */
export function createFramePictureLoader({ url, token }: MediaAccess): LoadFramePicture {
  return async (source, pts) => {
    const response = await fetchService(url, `/streams/${source}/snapshot.jpg?pts=${pts}`, {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`media answered ${response.status}: ${await response.text()}`)

    const picture = new Uint8Array(await response.arrayBuffer())
    const actualPts = Number(response.headers.get('X-Pts'))
    if (actualPts !== pts)
      throw new Error(`media no longer has the frame at ${pts}: the nearest is at ${actualPts}`)
    return picture
  }
}
