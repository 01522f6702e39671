import { fileURLToPath } from 'node:url'
import { syntaxError } from '@eyrie/contract/parse'
import type { RecordingLimits } from './recording.ts'

const bounds = { max_bytes: 1 << 20, max_seconds: 1, keep: 0 } as const
type Bound = keyof typeof bounds

/** Throws EyrieError `syntax` unless the address names an MP4 file, with bounds that are whole numbers. */
export function checkVideoAddress(address: string, at: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'file:' || !/[^/]\.mp4$/i.test(url.pathname))
    throw syntaxError(at, 'a sink of type video has an address such as file:///folder/name.mp4')
  for (const [name, text] of url.searchParams) {
    if (!isBound(name))
      throw syntaxError(at, `a recording has no bound ${name}: use ${Object.keys(bounds).join(', ')}`)
    const value = wholeNumber(text)
    if (value === undefined || value < bounds[name])
      throw syntaxError(at, `${name} is a whole number from ${bounds[name]} on`)
  }
}

/** `file:///folder/name.mp4?max_bytes=268435456&max_seconds=600&keep=5`. */
export function parseVideoAddress(address: string): RecordingLimits & { path: string } {
  const url = new URL(address)
  const bound = (name: Bound) => wholeNumber(url.searchParams.get(name) ?? '')
  const limits = {
    maxBytes: bound('max_bytes') ?? 256 << 20,
    maxSeconds: bound('max_seconds') ?? Number.POSITIVE_INFINITY,
    keep: bound('keep') ?? 5,
  }
  url.search = ''
  return { path: fileURLToPath(url), ...limits }
}

const isBound = (name: string): name is Bound => name in bounds
const wholeNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
