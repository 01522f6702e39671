import { type AddressObject, type DesiredSource, parseVideoDevice } from '@eyrie/contract'
import { openDevice } from './device/device-origin.ts'
import { openFile } from './file/file-origin.ts'
import { openHttp } from './http/http-origin.ts'
import type { Opening, Origin } from './origin/origin.ts'
import { openPattern } from './pattern/pattern-origin.ts'
import { openRtsp } from './rtsp/rtsp-origin.ts'

/** Opens the origin that an address names. Throws a `SourceFault` for an address that cannot be played. */
export async function openOrigin(
  { type, address }: Pick<DesiredSource, 'type' | 'address'>,
  opening: Opening,
): Promise<Origin> {
  const { url } = address
  if (type === 'video') return openVideo(address, opening)
  if (type === 'hosted_video') return openHttp(address, opening)
  if (type === 'inf' && url.startsWith('test:')) return openPattern(url)
  return openFile(url, opening.mediaRoots)
}

async function openVideo(address: AddressObject, opening: Opening): Promise<Origin> {
  const device = parseVideoDevice(address.url)
  if (device) return openDevice(device)
  return /^https?:/i.test(address.url) ? openHttp(address, opening) : openRtsp(address, opening.signal)
}
