import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseVideoDevice, REDACTED, redactAddress, type SourceInput } from '@eyrie/contract'
import { localPath } from '@eyrie/kit/paths'

/** The meaning of `SOURCE=`: the source to create, and the folder that media must be allowed to read. */
export interface RequestedSource {
  source: Pick<SourceInput, 'type' | 'address' | 'decoder'>
  folder: string | undefined
}

/** Parses an address, device or path. Throws an `Error` with the accepted forms, and without the password. */
export function parseSourceAddress(text: string): RequestedSource {
  if (/^rtsps?:\/\//i.test(text))
    return { source: { type: 'video', address: text, decoder: 'gst_h264' }, folder: undefined }
  // Many of these send JPEG. `gst` chooses the decoder by the content.
  if (/^https?:\/\//i.test(text) || parseVideoDevice(text))
    return { source: { type: 'video', address: text, decoder: 'gst' }, folder: undefined }
  if (/^test:\/\//i.test(text))
    return { source: { type: 'inf', address: text, decoder: 'gst_h264' }, folder: undefined }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !text.startsWith('file://'))
    throw new Error(
      `SOURCE=${redact(text)}: write an rtsp:// address, an http:// address, a device such as /dev/video0, a test:// pattern or the path of a video file`,
    )
  const path = text.startsWith('file://') ? parseFileUrl(text) : resolve(text)
  if (!existsSync(path)) throw new Error(`SOURCE=${redact(text)}: ${redact(path)} does not exist`)
  if (!statSync(path).isFile()) throw new Error(`SOURCE=${text}: ${path} is not a file`)
  return { source: { type: 'inf', address: pathToFileURL(path).href, decoder: 'gst' }, folder: dirname(path) }
}

function parseFileUrl(url: string): string {
  try {
    return localPath(url)
  } catch (cause) {
    const reason = (cause as Error).message.replaceAll(url, redact(url))
    throw new Error(`SOURCE=${redact(url)}: ${reason}`, { cause })
  }
}

/** Hides the password, even in a misspelt address: there it ends at the last @. */
const redact = (text: string) => redactAddress(text.replace(/:(?!\/\/).*@/s, `:${REDACTED}@`))
