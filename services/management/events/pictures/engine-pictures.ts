import { EyrieError } from '@eyrie/contract'
import type { PictureSource } from './picture-fetcher.ts'

/** How an engine is reached. */
export interface EngineAddress {
  url: string
  token: string
  timeoutMs: number
}

/** A picture of an event is some hundred kilobytes. */
const MOST_BYTES = 16 << 20

/** The pictures that engines keep of their events. `addressOf`: undefined where the engine is managed no longer. */
export function enginePictures(
  addressOf: (engine_id: string) => Promise<EngineAddress | undefined>,
): PictureSource {
  return {
    async fetch(engine_id, sha256, stopping) {
      const address = await addressOf(engine_id)
      if (!address) return undefined
      const { url, token, timeoutMs } = address
      const answer = await fetch(`${url}/api/v3/pictures/${sha256}`, {
        headers: token ? { authorization: `Bearer ${token}` } : {},
        signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
      })
      if (answer.status === 404) return undefined
      if (!answer.ok || Number(answer.headers.get('content-length')) > MOST_BYTES) {
        await answer.body?.cancel()
        throw new EyrieError('unavailable', `the engine answers ${answer.status} in place of a picture`)
      }
      return new Uint8Array(await answer.arrayBuffer())
    },
  }
}
