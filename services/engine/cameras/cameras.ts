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

/** Looks at cameras that no source may name yet; media does it, which has all connections to cameras. */
export interface Cameras {
  /** Throws EyrieError: `syntax` where no camera can be at the address, `camera` with what is wrong with the one there. */
  test(address: Address): Promise<CameraReport>
  discover(host: string | undefined): Promise<DiscoveredCamera[]>
}

/** Media itself gives up before. */
const LIMIT_MS = 20_000

export function createCameras({ url, token }: MediaAccess): Cameras {
  async function ask<T>(path: string, answer: z.ZodType<T>, body?: unknown): Promise<T> {
    const response = await fetch(new URL(path, url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(LIMIT_MS),
    }).catch(cause => {
      throw new EyrieError('unavailable', 'media, which tests cameras, is not reachable', { cause })
    })
    const told: unknown = await response.json().catch(() => undefined)
    if (response.ok) return answer.parse(told)
    const { code, reason } = errorBody.parse(told)
    throw new EyrieError(code satisfies ErrorCode, reason)
  }

  return {
    test: async address => {
      checkCameraAddress(address)
      return ask('/cameras/test', cameraReport, typeof address === 'string' ? { url: address } : address)
    },
    discover: host =>
      ask(`/cameras/discover${host ? `?host=${encodeURIComponent(host)}` : ''}`, z.array(discoveredCamera)),
  }
}
