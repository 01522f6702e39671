/** Loads the JPEG of exactly the frame of `source` with this `pts`. Rejects if media does not have it in time. */
export type LoadFramePicture = (source: number, pts: number) => Promise<Uint8Array>

/** The engine waits for pending pictures when it stops. */
const LIMIT_MS = 800

export interface MediaAccess {
  /** Where media listens, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
}

/** Loads pictures from the live streams of media, whose memory goes back to the last keyframe. */
export function createFramePictureLoader({ url, token }: MediaAccess): LoadFramePicture {
  return async (source, pts) => {
    const response = await fetch(new URL(`/streams/${source}/snapshot.jpg?pts=${pts}`, url), {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!response.ok) throw new Error(`media answered ${response.status}: ${Buffer.from(bytes)}`)
    const shown = Number(response.headers.get('X-Pts'))
    if (shown !== pts) throw new Error(`media no longer has the frame at ${pts}: the nearest is at ${shown}`)
    return bytes
  }
}
