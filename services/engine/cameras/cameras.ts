import { type Address, toAddressObject } from '@eyrie/contract'
import {
  type CameraReport,
  cameraReport,
  type DiscoveredCamera,
  discoveredCamera,
} from '@eyrie/contract/camera'
import { z } from 'zod'
import { checkCameraAddress } from '../configuration/checks/addresses.ts'
import type { MediaAccess } from '../media/frame-picture.ts'
import { requestMedia } from '../media/media-request.ts'

/**
 * Tests and discovers cameras before they are added as sources. The media service does the work.
 */
export interface Cameras {
  /**
   * Connects to a camera. Throws `EyrieError`: `syntax` if the address is invalid, `camera` with
   * the problem if it fails.
   */
  test(address: Address): Promise<CameraReport>
  /** Searches for ONVIF cameras in the local network, or at one host. */
  discover(host: string | undefined): Promise<DiscoveredCamera[]>
}

/**
 * Longer than the timeouts of the media service, so that the error of the media
 * service is reported.
 */
const REQUEST_TIMEOUT_MS = 20_000

export function createCameras(media: MediaAccess): Cameras {
  return {
    test: async address => {
      checkCameraAddress(address)
      const response = await requestMedia(media, '/cameras/test', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(toAddressObject(address)),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      })
      return cameraReport.parse(await response.json())
    },
    discover: async host => {
      const query = host ? `?host=${encodeURIComponent(host)}` : ''
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
      const response = await requestMedia(media, `/cameras/discover${query}`, { signal })
      return z.array(discoveredCamera).parse(await response.json())
    },
  }
}
