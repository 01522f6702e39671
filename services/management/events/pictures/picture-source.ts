import { EyrieError } from '@eyrie/contract'
import { type Egress, fetchFrom } from '@eyrie/kit'

/** Fetches pictures of events from the engines. */
export interface PictureSource {
  /**
   * Resolves to the picture as JPEG, or to undefined if the engine no longer has the picture or is
   * no longer registered. Rejects if the engine is unreachable.
   */
  fetch(engineId: string, sha256: string, signal: AbortSignal): Promise<Uint8Array | undefined>
}

/** Fetches pictures of any moment of the last seconds from the engines. */
export interface SnapshotSource {
  /**
   * Resolves to the picture of a channel that is nearest to a time (epoch ms). Resolves to
   * undefined if the engine has no picture within a second, or if the channel or the engine no
   * longer exists. Rejects if the engine is unreachable.
   */
  fetchSnapshot(
    channel: EngineChannel,
    timeMs: number,
    signal: AbortSignal,
  ): Promise<Snapshot | undefined>
}

/** A channel, by the id that its engine has assigned to it. */
export interface EngineChannel {
  engine_id: string
  channel_sid: number
}

export interface Snapshot {
  jpeg: Uint8Array
  /** When the picture was taken, in epoch ms. */
  takenMs: number
}

/** Connection settings of an engine. */
export interface EngineAddress {
  url: string
  token: string
  /** Timeout of a fetch. */
  timeoutMs: number
}

/** Maximum size of a picture. The usual size is a few hundred kilobytes. */
const MAX_PICTURE_BYTES = 16 << 20

/**
 * Creates a source of pictures and snapshots. `findAddress` resolves to undefined for an engine
 * that is no longer registered.
 */
export function createPictureSource(
  findAddress: (engineId: string) => Promise<EngineAddress | undefined>,
  egress: Egress,
): PictureSource & SnapshotSource {
  /**
   * Requests a picture from an engine's API. Resolves to undefined if the engine, or what the path
   * names, does not exist.
   */
  async function request(
    engineId: string,
    path: string,
    signal: AbortSignal,
  ): Promise<{ jpeg: Uint8Array; headers: Headers } | undefined> {
    const address = await findAddress(engineId)
    if (!address) return undefined

    const { url, token, timeoutMs } = address
    const response = await fetchFrom(egress, `${url}/api/v3${path}`, {
      headers: token ? { authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      maxBytes: MAX_PICTURE_BYTES,
    })
    if (!response.ok) {
      // An unread body would keep the connection in use.
      await response.body?.cancel()
      if (response.status === 404) return undefined
      throw createFetchError(`the engine responded with status ${response.status}`)
    }

    return { jpeg: new Uint8Array(await response.arrayBuffer()), headers: response.headers }
  }

  return {
    async fetch(engineId, sha256, signal) {
      const picture = await request(engineId, `/pictures/${sha256}`, signal)
      return picture?.jpeg
    },

    async fetchSnapshot({ engine_id: engineId, channel_sid: channelSid }, timeMs, signal) {
      const time = new Date(timeMs).toISOString()
      const path = `/exports/channels/${channelSid}/snapshot.jpg?time=${time}`
      const picture = await request(engineId, path, signal)
      if (!picture) return undefined
      const takenMs = Date.parse(picture.headers.get('X-Time') ?? '')
      if (Number.isNaN(takenMs)) throw createFetchError('the engine did not report its time')
      return { jpeg: picture.jpeg, takenMs }
    },
  }
}

const createFetchError = (reason: string) =>
  new EyrieError('unavailable', `failed to fetch picture: ${reason}`)
