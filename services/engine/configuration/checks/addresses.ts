import {
  type Address,
  EyrieError,
  parseVideoDevice,
  type SinkType,
  type SourceType,
} from '@eyrie/contract'
import { assertPercentEncoding } from '@eyrie/contract/address'
import { syntaxError } from '@eyrie/contract/parse'
import { parseTestPicture } from '@eyrie/contract/test-picture'
import {
  parseInternalSinkAddress,
  parseInternalSourceAddress,
  parseSinkAddress,
  parseSourceAddress,
} from '@eyrie/contract/zmq-messages'
import { resolveAllowedPath } from '@eyrie/kit/paths'
import { isTableAddress, parseTableAddress } from '../../sinks/embeddings/table-address.ts'
import { checkHostedAddress } from '../../sinks/hosted-video/hosted-video-address.ts'
import { checkVideoAddress } from '../../sinks/video/video-address.ts'

/**
 * Checks the addresses of sources, sinks and cameras before they are stored. Each type of source
 * and sink has its own form of address.
 */

/**
 * The folders that addresses may refer to: sources read files in `media`, sinks
 * write files in `output`.
 */
export interface Roots {
  media: readonly string[]
  output: readonly string[]
}

const CAMERA_EXAMPLES = 'rtsp://host:554/stream, https://host/video.mjpg or /dev/video0'

/**
 * Throws `EyrieError` (`syntax`) if the address is invalid for this type of source. The message
 * contains `pointer`, the JSON pointer of the address in the request, and never a password.
 */
export async function checkSourceAddress(
  { type, address }: { type: SourceType; address: Address },
  pointer: string,
  roots: Roots,
): Promise<void> {
  const { url, urlPointer } = splitAddress(address, pointer)
  checkSubStream(type, address, pointer)
  switch (type) {
    // A camera.
    case 'video':
      if (isCameraUrl(url)) return
      throw exampleError(urlPointer, 'a source of type video', CAMERA_EXAMPLES)
    // A stream that another appliance serves.
    case 'hosted_video':
      if (isHostedStreamUrl(url)) return
      throw exampleError(urlPointer, 'a source of type hosted_video', 'http://host:8200/streams/1')
    // Frames that another program sends.
    case 'zmq': {
      const socketRoots = [...roots.media, ...roots.output]
      return checkParsedAddress(url, parseSourceAddress, urlPointer, socketRoots)
    }
    // Frames of another pipeline of this engine.
    case 'zmqinternal':
      return checkParsedAddress(url, parseInternalSourceAddress, urlPointer, [])
    // A file that is played in a loop, or a test picture.
    case 'inf':
      if (url.startsWith('test:')) return checkTestPicture(url, urlPointer)
      return checkFilePath(url, urlPointer, roots.media)
    case 'file':
      return checkFilePath(url, urlPointer, roots.media)
  }
}

/**
 * Only a camera has a sub stream: a smaller stream of the same camera, whose address has the same
 * forms as that of the main stream.
 */
function checkSubStream(type: SourceType, address: Address, pointer: string): void {
  if (typeof address === 'string' || address.sub_url === undefined) return
  const subPointer = `${pointer}/sub_url`
  if (type !== 'video') {
    throw syntaxError(subPointer, `a source of type ${type} has no sub stream: remove sub_url`)
  }
  if (isCameraUrl(address.sub_url)) return
  throw exampleError(subPointer, 'the sub stream of a camera', CAMERA_EXAMPLES)
}

/** Throws `EyrieError` (`syntax`) if this cannot be the address of a camera. */
export function checkCameraAddress(address: Address): void {
  const { url, urlPointer } = splitAddress(address, '')
  checkSubStream('video', address, '')
  if (isCameraUrl(url) || /^onvif:/i.test(url)) return
  throw exampleError(urlPointer, 'a camera', `${CAMERA_EXAMPLES}, or onvif://host for ONVIF`)
}

/**
 * Throws `EyrieError` (`syntax`) if the address is invalid for this type of sink, as
 * `checkSourceAddress` does.
 */
export async function checkSinkAddress(
  { type, address: url }: { type: SinkType; address: string },
  pointer: string,
  roots: Roots,
): Promise<void> {
  switch (type) {
    case 'file':
      return checkFilePath(url, pointer, roots.output)
    case 'video':
      checkVideoAddress(url, pointer)
      return checkFilePath(url, pointer, roots.output)
    case 'hosted_video':
      return checkHostedAddress(url, pointer)
    case 'zmq':
      return checkParsedAddress(url, parseSinkAddress, pointer, roots.output)
    case 'zmqinternal':
      return checkParsedAddress(url, parseInternalSinkAddress, pointer, [])
    case 'embedding':
      if (!isTableAddress(url)) return checkFilePath(url, pointer, roots.output)
      return checkParsedAddress(url, parseTableSinkAddress, pointer, [])
    // A sink that discards all results.
    case 'inf':
      if (URL.parse(url)?.protocol === 'inf:') return
      throw exampleError(pointer, 'a sink of type inf', 'inf://name')
  }
}

function checkTestPicture(url: string, pointer: string): void {
  if (parseTestPicture(url)) return
  throw exampleError(
    pointer,
    'a test picture',
    'test://smpte, test://ball or test://snow?width=640&height=360&fps=10, ' +
      'with an even width and height from 16 to 4096 and 1 to 60 frames per second',
  )
}

const exampleError = (pointer: string, owner: string, examples: string) =>
  syntaxError(pointer, `${owner} has an address such as ${examples}`)

/** Returns the URL of an address and the JSON pointer to the URL. */
function splitAddress(address: Address, pointer: string): { url: string; urlPointer: string } {
  return typeof address === 'string'
    ? { url: address, urlPointer: pointer }
    : { url: address.url, urlPointer: `${pointer}/url` }
}

/** Unlike sockets, tables have no path in the file system. */
const parseTableSinkAddress = (url: string) => ({ ...parseTableAddress(url), path: undefined })

function isCameraUrl(url: string): boolean {
  const { protocol = '', host = '' } = URL.parse(url) ?? {}
  const isNetworkCamera = /^(https?|rtsps?):$/.test(protocol) && host !== ''
  return isNetworkCamera || parseVideoDevice(url) !== undefined
}

/** Whether the URL is that of a stream that the media service of another appliance serves. */
function isHostedStreamUrl(url: string): boolean {
  const { protocol = '', host = '', pathname = '' } = URL.parse(url) ?? {}
  return /^https?:$/.test(protocol) && host !== '' && /^\/streams\/[\w-]+$/.test(pathname)
}

/**
 * Checks an address by parsing it. If it refers to a socket in the file system, the rules for files
 * apply to the socket.
 */
async function checkParsedAddress(
  url: string,
  parse: (url: string) => { path: string | undefined },
  pointer: string,
  roots: readonly string[],
): Promise<void> {
  let filePath: string | undefined
  try {
    assertPercentEncoding(url)
    filePath = parse(url).path
  } catch (cause) {
    throw syntaxError(pointer, (cause as Error).message, { cause })
  }
  if (filePath !== undefined) await checkFilePath(filePath, pointer, roots)
}

async function checkFilePath(
  filePath: string,
  pointer: string,
  roots: readonly string[],
): Promise<void> {
  try {
    await resolveAllowedPath(filePath, roots)
  } catch (cause) {
    if (cause instanceof EyrieError) throw syntaxError(pointer, cause.message, { cause })
    const { code } = cause as NodeJS.ErrnoException
    throw syntaxError(pointer, `failed to access this path (${code}): use another one`, { cause })
  }
}
