import { EyrieError } from '@eyrie/contract'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { type Egress, fetchFrom } from '@eyrie/kit'

/** Fetches pictures from the engines. */
export interface PictureSource {
  /**
   * Resolves to the picture as JPEG, or to undefined if the engine no longer has the picture or is no longer registered.
   * Rejects if the engine is unreachable.
   */
  fetch(engine_id: string, sha256: string, signal: AbortSignal): Promise<Uint8Array | undefined>
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

/** Creates a source. `findAddress` resolves to undefined for an engine that is no longer registered. */
export function createPictureSource(
  findAddress: (engine_id: string) => Promise<EngineAddress | undefined>,
  egress: Egress,
): PictureSource {
  return {
    async fetch(engine_id, sha256, signal) {
      const address = await findAddress(engine_id)
      if (!address) return undefined

      const { url, token, timeoutMs } = address
      const response = await fetchFrom(egress, `${url}/api/v3/pictures/${sha256}`, {
        headers: token ? { authorization: `Bearer ${token}` } : {},
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      if (response.status === 404) return undefined

      const contentLength = Number(response.headers.get('content-length'))
      if (!response.ok || contentLength > MAX_PICTURE_BYTES) {
        // An unread body would keep the connection in use.
        await response.body?.cancel()
        throw new EyrieError(
          'unavailable',
          `failed to fetch picture: the engine responded with status ${response.status} and ${formatBytes(contentLength)}`,
        )
      }
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}
