import { EyrieError } from '@eyrie/contract'

/** Provides the pictures that engines have taken. */
export interface PictureSource {
  /** Resolves to undefined when the engine no longer has the picture. Rejects when the engine is unreachable. */
  fetch(engine_id: string, sha256: string, signal: AbortSignal): Promise<Uint8Array | undefined>
}

/** Connection settings of an engine. */
export interface EngineAddress {
  url: string
  token: string
  timeoutMs: number
}

/** Pictures usually have a few hundred kilobytes. */
const MAX_BYTES = 16 << 20

/** `findAddress` resolves to undefined for an engine that is no longer registered. */
export function createPictureSource(
  findAddress: (engine_id: string) => Promise<EngineAddress | undefined>,
): PictureSource {
  return {
    async fetch(engine_id, sha256, signal) {
      const address = await findAddress(engine_id)
      if (!address) return undefined
      const { url, token, timeoutMs } = address
      const response = await fetch(`${url}/api/v3/pictures/${sha256}`, {
        headers: token ? { authorization: `Bearer ${token}` } : {},
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      if (response.status === 404) return undefined
      const contentLength = Number(response.headers.get('content-length'))
      if (!response.ok || contentLength > MAX_BYTES) {
        await response.body?.cancel()
        throw new EyrieError(
          'unavailable',
          `the engine has responded with status ${response.status} and ${contentLength} bytes to a request for a picture`,
        )
      }
      return new Uint8Array(await response.arrayBuffer())
    },
  }
}
