import { type AddressObject, type DesiredSource, parseVideoDevice } from '@eyrie/contract'
import { openDevice } from './device/device-origin.ts'
import { openFile } from './file/file-origin.ts'
import { openHttp } from './http/http-origin.ts'
import type { OpenContext, Origin } from './origin/origin.ts'
import { openPattern } from './pattern/pattern-origin.ts'
import { openRtsp } from './rtsp/rtsp-origin.ts'

/**
 * Opens the camera, file or server from which a source receives its video. Throws a `SourceFault`
 * if the address is invalid or cannot be played.
 */
export async function openOrigin(
  { type, address }: Pick<DesiredSource, 'type' | 'address'>,
  context: OpenContext,
): Promise<Origin> {
  const { url } = address
  if (type === 'video') return openVideo(address, context)
  if (type === 'hosted_video') return openHttp(address, context)
  if (type === 'inf' && url.startsWith('test:')) return openPattern(url)
  return openFile(url, context.mediaRoots)
}

/** Opens a camera, which is a device of this machine, or reached over HTTP or RTSP. */
async function openVideo(address: AddressObject, context: OpenContext): Promise<Origin> {
  const device = parseVideoDevice(address.url)
  if (device) return openDevice(device)
  return /^https?:/i.test(address.url) ? openHttp(address, context) : openRtsp(address, context)
}
