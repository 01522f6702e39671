import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseVideoDevice, REDACTED, redactAddress, type SourceInput } from '@eyrie/contract'
import { toLocalPath } from '@eyrie/kit/paths'

/**
 * The parsed `SOURCE=`: the source to create, and the folder that the media service
 * must be allowed to read.
 */
export interface RequestedSource {
  source: Pick<SourceInput, 'type' | 'address'>
  folder: string | undefined
}

const CAMERA_URL = /^(rtsp|http)s?:\/\//i
/** A test pattern, such as `test://ball`. */
const TEST_URL = /^test:\/\//i
const ANY_URL = /^[a-z][a-z0-9+.-]*:\/\//i

/**
 * Parses `SOURCE=`: a URL, a device or a path. Throws an `Error` with the accepted forms, in which
 * passwords are redacted.
 */
export function parseSourceAddress(text: string): RequestedSource {
  if (CAMERA_URL.test(text) || parseVideoDevice(text)) {
    return { source: { type: 'video', address: text }, folder: undefined }
  }
  if (TEST_URL.test(text)) return { source: { type: 'inf', address: text }, folder: undefined }
  if (ANY_URL.test(text) && !text.startsWith('file://')) {
    throw new Error(
      `SOURCE=${redact(text)}: write an rtsp:// address, an http:// address, a device such as /dev/video0, a test:// pattern or the path of a video file`,
    )
  }

  const path = text.startsWith('file://') ? parseFileUrl(text) : resolve(text)
  const problem = findProblem(path)
  if (problem) throw new Error(`SOURCE=${redact(text)}: ${redact(path)} ${problem}`)
  return { source: { type: 'inf', address: pathToFileURL(path).href }, folder: dirname(path) }
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
 * Redacts the password. In an invalid URL, everything up to the last @ may be part of the password.
 */
const redact = (text: string) => redactAddress(text.replace(/:(?!\/\/).*@/s, `:${REDACTED}@`))
