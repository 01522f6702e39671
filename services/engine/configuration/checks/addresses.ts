import { type Address, EyrieError, parseVideoDevice, type SinkType, type SourceType } from '@eyrie/contract'
import { assertPercentEncoding } from '@eyrie/contract/address'
import { syntaxError } from '@eyrie/contract/parse'
import {
  parseInternalSinkAddress,
  parseInternalSourceAddress,
  parseSinkAddress,
  parseSourceAddress,
} from '@eyrie/contract/zmq-messages'
import { allowedPath } from '@eyrie/kit/paths'
import { isTableAddress, parseTableAddress } from '../../sinks/embeddings/table-address.ts'
import { checkHostedAddress } from '../../sinks/hosted-video/hosted-video-address.ts'
import { checkVideoAddress } from '../../sinks/video/video-address.ts'

/** Folders that files may be read from and written to. */
export interface Roots {
  media: readonly string[]
  output: readonly string[]
}

/** Throws EyrieError `syntax` if a source of this type cannot have this address. Never repeats a password. */
export async function checkSourceAddress(
  type: SourceType,
  address: Address,
  at: string,
  roots: Roots,
): Promise<void> {
  const [url, place] = typeof address === 'string' ? [address, at] : [address.url, `${at}/url`]
  if (type === 'video' || type === 'hosted_video') {
    const wanted = wantedNetworkAddress(type, url)
    if (wanted) throw syntaxError(place, `a source of type ${type} has an address such as ${wanted}`)
    return
  }
  if (type === 'zmq')
    return checkReadAddress(url, parseSourceAddress, place, [...roots.media, ...roots.output])
  if (type === 'zmqinternal') return checkReadAddress(url, parseInternalSourceAddress, place, [])
  if (type === 'inf' && url.startsWith('test:')) {
    if (/^test:\/\/[a-z0-9-]*$/.test(url)) return
    throw syntaxError(place, 'a test picture has an address such as test://smpte, test://ball or test://snow')
  }
  await checkPath(url, place, roots.media)
}

/** Throws EyrieError `syntax` if there can be no camera to be tested at this address. */
export function checkCameraAddress(address: Address): void {
  const [url, place] = typeof address === 'string' ? [address, ''] : [address.url, '/url']
  const wanted = /^onvif:/i.test(url) ? undefined : wantedNetworkAddress('video', url)
  if (wanted) throw syntaxError(place, `a camera has an address such as ${wanted}; its ONVIF is onvif://host`)
}

/** Throws EyrieError `syntax` if a sink of this type cannot have this address. */
export async function checkSinkAddress(type: SinkType, url: string, at: string, roots: Roots): Promise<void> {
  if (type === 'file') return checkPath(url, at, roots.output)
  if (type === 'video') {
    checkVideoAddress(url, at)
    return checkPath(url, at, roots.output)
  }
  if (type === 'hosted_video') return checkHostedAddress(url, at)
  if (type === 'zmq') return checkReadAddress(url, parseSinkAddress, at, roots.output)
  if (type === 'zmqinternal') return checkReadAddress(url, parseInternalSinkAddress, at, [])
  if (type === 'embedding') {
    if (!isTableAddress(url)) return checkPath(url, at, roots.output)
    return checkReadAddress(url, table => ({ ...parseTableAddress(table), path: undefined }), at, [])
  }
  if (protocolOf(url) !== 'inf:')
    throw syntaxError(at, 'a sink of type inf has an address such as inf://name')
}

/** What to write instead, where a camera or another instance cannot be at this address. */
function wantedNetworkAddress(type: 'video' | 'hosted_video', url: string): string | undefined {
  const { protocol = '', host = '', pathname = '' } = URL.parse(url) ?? {}
  const isHttp = /^https?:$/.test(protocol) && host !== ''
  if (type === 'hosted_video')
    return isHttp && /^\/streams\/[\w-]+$/.test(pathname) ? undefined : 'http://host:8200/streams/1'
  if (isHttp || (/^rtsps?:$/.test(protocol) && host !== '') || parseVideoDevice(url)) return undefined
  return 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'
}

/** A socket in the file system is a file like any other to whoever may reach it. */
async function checkReadAddress(
  url: string,
  read: (url: string) => { path: string | undefined },
  at: string,
  roots: readonly string[],
): Promise<void> {
  let path: string | undefined
  try {
    assertPercentEncoding(url)
    path = read(url).path
  } catch (cause) {
    throw syntaxError(at, (cause as Error).message, { cause })
  }
  if (path !== undefined) await checkPath(path, at, roots)
}

async function checkPath(url: string, at: string, roots: readonly string[]): Promise<void> {
  try {
    await allowedPath(url, roots)
  } catch (cause) {
    if (cause instanceof EyrieError) throw syntaxError(at, cause.message, { cause })
    const { code } = cause as NodeJS.ErrnoException
    throw syntaxError(at, `this path cannot be used (${code}): take another`, { cause })
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}
