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

/** Folders from which files may be read (`media`) and to which they may be written (`output`). */
export interface Roots {
  media: readonly string[]
  output: readonly string[]
}

/**
 * Throws `EyrieError` (`syntax`) at `path` if the address is invalid for this type of source. Error messages contain no
 * passwords.
 */
export async function checkSourceAddress(
  type: SourceType,
  address: Address,
  path: string,
  roots: Roots,
): Promise<void> {
  const { url, urlPath } = splitAddress(address, path)
  if (type === 'video' || type === 'hosted_video') {
    const example = findNetworkAddressExample(type, url)
    if (example) throw syntaxError(urlPath, `a source of type ${type} has an address such as ${example}`)
    return
  }
  if (type === 'zmq')
    return checkParsedAddress(url, parseSourceAddress, urlPath, [...roots.media, ...roots.output])
  if (type === 'zmqinternal') return checkParsedAddress(url, parseInternalSourceAddress, urlPath, [])
  if (type === 'inf' && url.startsWith('test:')) {
    if (/^test:\/\/[a-z0-9-]*$/.test(url)) return
    throw syntaxError(
      urlPath,
      'a test picture has an address such as test://smpte, test://ball or test://snow',
    )
  }
  await checkFilePath(url, urlPath, roots.media)
}

/** Throws `EyrieError` (`syntax`) if the address is not that of a camera. */
export function checkCameraAddress(address: Address): void {
  const { url, urlPath } = splitAddress(address, '')
  if (/^onvif:/i.test(url)) return
  const example = findNetworkAddressExample('video', url)
  if (example)
    throw syntaxError(urlPath, `a camera has an address such as ${example}, or onvif://host for ONVIF`)
}

/** Throws `EyrieError` (`syntax`) at `path` if the address is invalid for this type of sink. */
export async function checkSinkAddress(
  type: SinkType,
  url: string,
  path: string,
  roots: Roots,
): Promise<void> {
  if (type === 'file') return checkFilePath(url, path, roots.output)
  if (type === 'video') {
    checkVideoAddress(url, path)
    return checkFilePath(url, path, roots.output)
  }
  if (type === 'hosted_video') return checkHostedAddress(url, path)
  if (type === 'zmq') return checkParsedAddress(url, parseSinkAddress, path, roots.output)
  if (type === 'zmqinternal') return checkParsedAddress(url, parseInternalSinkAddress, path, [])
  if (type === 'embedding') {
    if (!isTableAddress(url)) return checkFilePath(url, path, roots.output)
    return checkParsedAddress(url, table => ({ ...parseTableAddress(table), path: undefined }), path, [])
  }
  if (!URL.canParse(url) || new URL(url).protocol !== 'inf:')
    throw syntaxError(path, 'a sink of type inf has an address such as inf://name')
}

/** The URL of an address and the JSON pointer to it. */
function splitAddress(address: Address, path: string): { url: string; urlPath: string } {
  return typeof address === 'string'
    ? { url: address, urlPath: path }
    : { url: address.url, urlPath: `${path}/url` }
}

/** Examples of valid addresses if this one is not the address of a camera or of another instance's stream. */
function findNetworkAddressExample(type: 'video' | 'hosted_video', url: string): string | undefined {
  const { protocol = '', host = '', pathname = '' } = URL.parse(url) ?? {}
  const isHttp = /^https?:$/.test(protocol) && host !== ''
  if (type === 'hosted_video')
    return isHttp && /^\/streams\/[\w-]+$/.test(pathname) ? undefined : 'http://host:8200/streams/1'
  if (isHttp || (/^rtsps?:$/.test(protocol) && host !== '') || parseVideoDevice(url)) return undefined
  return 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'
}

/** Sockets in the file system are subject to the same rules as files. */
async function checkParsedAddress(
  url: string,
  parse: (url: string) => { path: string | undefined },
  path: string,
  roots: readonly string[],
): Promise<void> {
  let filePath: string | undefined
  try {
    assertPercentEncoding(url)
    filePath = parse(url).path
  } catch (cause) {
    throw syntaxError(path, (cause as Error).message, { cause })
  }
  if (filePath !== undefined) await checkFilePath(filePath, path, roots)
}

async function checkFilePath(filePath: string, path: string, roots: readonly string[]): Promise<void> {
  try {
    await allowedPath(filePath, roots)
  } catch (cause) {
    if (cause instanceof EyrieError) throw syntaxError(path, cause.message, { cause })
    const { code } = cause as NodeJS.ErrnoException
    throw syntaxError(path, `failed to access this path (${code}): use another one`, { cause })
  }
}
