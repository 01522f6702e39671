import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseVideoDevice, REDACTED, redactAddress, type SourceInput } from '@eyrie/contract'
import { toLocalPath } from '@eyrie/kit/paths'

/** The source that a new appliance analyses. */
export type QuickstartSource = Pick<SourceInput, 'type' | 'address'>

/** What `SOURCE=` requests. */
export interface RequestedSource {
  /** The source to create. */
  source: QuickstartSource
  /** The folder of a video file, which the media service must be allowed to read. */
  folder: string | undefined
}

/** Type of a source that plays a file or a test pattern in an infinite loop. */
const LOOP = 'inf'
const ACCEPTED_FORMS =
  'an rtsp:// address, an http:// address, a device such as /dev/video0, ' +
  'a test:// pattern or the path of a video file'

/**
 * Parses `SOURCE=`: a URL, a device or a path. Throws an `Error` with the accepted forms, or with
 * the problem of a file. Passwords are redacted in it.
 */
export function parseSourceAddress(text: string): RequestedSource {
  if (parseVideoDevice(text)) return createCameraSource(text)
  switch (parseScheme(text)) {
    case 'rtsp':
    case 'rtsps':
    case 'http':
    case 'https':
      return createCameraSource(text)
    case 'test':
      return { source: { type: LOOP, address: text }, folder: undefined }
    case 'file':
      return createFileSource(parseFileUrl(text), text)
    case undefined:
      return createFileSource(resolve(text), text)
    default:
      throw new Error(`SOURCE=${redact(text)}: write ${ACCEPTED_FORMS}`)
  }
}

/** Returns the scheme of a URL in lower case; undefined for any other text. */
function parseScheme(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
}

const createCameraSource = (address: string): RequestedSource => ({
  source: { type: 'video', address },
  folder: undefined,
})

/** Creates the source for a video file. `text` is the value of `SOURCE=`, for the error message. */
function createFileSource(path: string, text: string): RequestedSource {
  const problem = findProblem(path)
  if (problem) throw new Error(`SOURCE=${redact(text)}: ${redact(path)} ${problem}`)
  return { source: { type: LOOP, address: pathToFileURL(path).href }, folder: dirname(path) }
}

/** Returns what is wrong with the path of a video; undefined if it is a file. */
function findProblem(path: string): string | undefined {
  if (!existsSync(path)) return 'does not exist'
  return statSync(path).isFile() ? undefined : 'is not a file'
}

function parseFileUrl(url: string): string {
  try {
    return toLocalPath(url)
  } catch (cause) {
    const reason = (cause as Error).message.replaceAll(url, redact(url))
    throw new Error(`SOURCE=${redact(url)}: ${reason}`, { cause })
  }
}

/**
 * Redacts passwords. In an invalid URL, a password may contain any character. Everything between
 * the first colon, except that of `://`, and the last @ is therefore redacted.
 */
const redact = (text: string) => redactAddress(text.replace(/:(?!\/\/).*@/s, `:${REDACTED}@`))
