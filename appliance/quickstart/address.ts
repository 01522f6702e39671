import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseVideoDevice, REDACTED, redactAddress, type SourceInput } from '@eyrie/contract'
import { localPath } from '@eyrie/kit/paths'

/** What `SOURCE=` means: the source to create, and the folder that media must be allowed to read. */
export interface Wanted {
  source: Pick<SourceInput, 'type' | 'address' | 'decoder'>
  folder: string | undefined
}

/** Throws an Error that says what to write instead, and never a password. */
export function readAddress(text: string): Wanted {
  if (/^rtsps?:\/\//i.test(text))
    return { source: { type: 'video', address: text, decoder: 'gst_h264' }, folder: undefined }
  // Many of these send JPEG: `gst` chooses a decoder by what comes.
  if (/^https?:\/\//i.test(text) || parseVideoDevice(text))
    return { source: { type: 'video', address: text, decoder: 'gst' }, folder: undefined }
  if (/^test:\/\//i.test(text))
    return { source: { type: 'inf', address: text, decoder: 'gst_h264' }, folder: undefined }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !text.startsWith('file://'))
    throw new Error(
      `SOURCE=${shown(text)}: write an rtsp:// address, an http:// address, a device such as /dev/video0, a test:// pattern or the path of a video file`,
    )
  const path = text.startsWith('file://') ? pathOf(text) : resolve(text)
  if (!existsSync(path)) throw new Error(`SOURCE=${shown(text)}: there is no file ${shown(path)}`)
  if (!statSync(path).isFile()) throw new Error(`SOURCE=${text}: ${path} is not a file`)
  // `gst` chooses a decoder by what is in the file.
  return { source: { type: 'inf', address: pathToFileURL(path).href, decoder: 'gst' }, folder: dirname(path) }
}

function pathOf(url: string): string {
  try {
    return localPath(url)
  } catch (cause) {
    const said = (cause as Error).message.replaceAll(url, shown(url))
    throw new Error(`SOURCE=${shown(url)}: ${said}`, { cause })
  }
}

/** Who misspells an address has written his password all the same: it ends at the last @. */
const shown = (text: string) => redactAddress(text.replace(/:(?!\/\/).*@/s, `:${REDACTED}@`))
