/** JPEG of exactly the frame of a source that has this `pts`. Rejects if it cannot be had in time. */
export type Snapshot = (source: number, pts: number) => Promise<Uint8Array>

/** What takes longer is given up: the engine waits for it when it stops. */
const LIMIT_MS = 800

export interface MediaAccess {
  /** Where media listens, such as http://127.0.0.1:8200. */
  url: string
  token: string | undefined
}

/** Takes pictures from the live streams of media, whose memory goes back to the last keyframe. */
export function snapshotsOf({ url, token }: MediaAccess): Snapshot {
  return async (source, pts) => {
    const response = await fetch(new URL(`/streams/${source}/snapshot.jpg?pts=${pts}`, url), {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (!response.ok) throw new Error(`media answered ${response.status}: ${Buffer.from(bytes)}`)
    const shown = Number(response.headers.get('X-Pts'))
    if (shown !== pts) throw new Error(`media has forgotten the frame at ${pts}: the nearest is at ${shown}`)
    return bytes
  }
}
