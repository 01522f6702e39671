/** Loads the JPEG of exactly the frame of `source` at `pts`. Rejects if media does not return it in time. */
export type LoadFramePicture = (source: number, pts: number) => Promise<Uint8Array>

/** Short, because the engine waits for pending pictures when it stops. */
const TIMEOUT_MS = 800

export interface MediaAccess {
  /** Base URL of media, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
}

/** Loads pictures from the live streams of media, which buffers them back to the last keyframe. */
export function createFramePictureLoader({ url, token }: MediaAccess): LoadFramePicture {
  return async (source, pts) => {
    const response = await fetch(new URL(`/streams/${source}/snapshot.jpg?pts=${pts}`, url), {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!response.ok) throw new Error(`media answered ${response.status}: ${Buffer.from(bytes)}`)
    const actualPts = Number(response.headers.get('X-Pts'))
    if (actualPts !== pts)
      throw new Error(`media no longer has the frame at ${pts}: the nearest is at ${actualPts}`)
    return bytes
  }
}
