import { type Address, EyrieError } from '@eyrie/contract'
import {
  type CameraReport,
  cameraReport,
  type DiscoveredCamera,
  discoveredCamera,
} from '@eyrie/contract/camera'
import { type ErrorCode, errorBody } from '@eyrie/contract/errors'
import { z } from 'zod'
import { checkCameraAddress } from '../configuration/checks/addresses.ts'
import type { MediaAccess } from '../media/frame-picture.ts'

/** Tests and discovers cameras before they are added as sources. Requests are forwarded to media. */
export interface Cameras {
  /** Throws `EyrieError`: `syntax` if the address is invalid, `camera` with the problem if the test fails. */
  test(address: Address): Promise<CameraReport>
  discover(host: string | undefined): Promise<DiscoveredCamera[]>
}

/** Longer than the timeouts of media, so that its error is the one that is reported. */
const REQUEST_TIMEOUT_MS = 20_000

export function createCameras({ url, token }: MediaAccess): Cameras {
  async function request<T>(path: string, responseSchema: z.ZodType<T>, body?: unknown): Promise<T> {
    const response = await fetch(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch(cause => {
      throw new EyrieError('unavailable', 'media is unreachable', { cause })
    })
    const responseBody: unknown = await response.json().catch(() => undefined)
    if (response.ok) return responseSchema.parse(responseBody)
    const { code, reason } = errorBody.parse(responseBody)
    throw new EyrieError(code satisfies ErrorCode, reason)
  }

  return {
    test: async address => {
      checkCameraAddress(address)
      return request('/cameras/test', cameraReport, typeof address === 'string' ? { url: address } : address)
    },
    discover: host =>
      request(
        `/cameras/discover${host ? `?host=${encodeURIComponent(host)}` : ''}`,
        z.array(discoveredCamera),
      ),
  }
}
