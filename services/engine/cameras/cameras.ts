import { type Address, EyrieError } from '@eyrie/contract'
import {
  type CameraReport,
  cameraReport,
  type DiscoveredCamera,
  discoveredCamera,
} from '@eyrie/contract/camera'
import { errorBody } from '@eyrie/contract/errors'
import { type EgressRequest, fetchService } from '@eyrie/kit'
import { z } from 'zod'
import { checkCameraAddress } from '../configuration/checks/addresses.ts'
import type { MediaAccess } from '../media/frame-picture.ts'

/** Tests and discovers cameras before they are added as sources. The media service does the work. */
export interface Cameras {
  /** Connects to a camera. Throws `EyrieError`: `syntax` if the address is invalid, `camera` with the problem if it fails. */
  test(address: Address): Promise<CameraReport>
  /** Searches for ONVIF cameras in the local network, or at one host. */
  discover(host: string | undefined): Promise<DiscoveredCamera[]>
}

/** Longer than the timeouts of the media service, so that the error of the media service is reported. */
const REQUEST_TIMEOUT_MS = 20_000

export function createCameras({ url, token }: MediaAccess): Cameras {
  const authorization: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {}

  return {
    test: async address => {
      checkCameraAddress(address)
      const addressObject = typeof address === 'string' ? { url: address } : address
      const request = {
        method: 'POST',
        headers: { ...authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(addressObject),
      }
      return requestMedia(url, '/cameras/test', request, cameraReport)
    },
    discover: host => {
      const query = host ? `?host=${encodeURIComponent(host)}` : ''
      const request = { headers: authorization }
      return requestMedia(url, `/cameras/discover${query}`, request, z.array(discoveredCamera))
    },
  }
}

/** Sends a request to the media service and validates the response. Throws the media service's own error as `EyrieError`. */
async function requestMedia<T>(
  url: string,
  path: string,
  request: EgressRequest,
  responseSchema: z.ZodType<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const response = await fetchService(url, path, { ...request, signal }).catch(cause => {
    throw new EyrieError('unavailable', 'the media service is unreachable: try again later', { cause })
  })

  const responseBody: unknown = await response.json().catch(() => undefined)
  if (response.ok) return responseSchema.parse(responseBody)
  const error = errorBody.safeParse(responseBody)
  if (!error.success)
    throw new EyrieError('unavailable', `the media service answered ${response.status}: try again later`)
  throw new EyrieError(error.data.code, error.data.reason)
}
