import { fileURLToPath } from 'node:url'
import { syntaxError } from '@eyrie/contract/parse'
import type { RecordingLimits } from './recording.ts'

/** Minimum values of the query parameters. */
const BOUNDS = { max_bytes: 1 << 20, max_seconds: 1, keep: 0 } as const
type Bound = keyof typeof BOUNDS

/** Throws `EyrieError` (`syntax`) unless the address is that of an MP4 file with valid bounds. */
export function checkVideoAddress(address: string, at: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'file:' || !/[^/]\.mp4$/i.test(url.pathname))
    throw syntaxError(at, 'a sink of type video has an address such as file:///folder/name.mp4')
  for (const [name, text] of url.searchParams) {
    if (!isBound(name))
      throw syntaxError(at, `a recording has no bound ${name}: use ${Object.keys(BOUNDS).join(', ')}`)
    const value = parseWholeNumber(text)
    if (value === undefined || value < BOUNDS[name])
      throw syntaxError(at, `${name} is a whole number from ${BOUNDS[name]} on`)
  }
}

/** Parses `file:///folder/name.mp4?max_bytes=268435456&max_seconds=600&keep=5`. */
export function parseVideoAddress(address: string): RecordingLimits & { path: string } {
  const url = new URL(address)
  const readBound = (name: Bound) => parseWholeNumber(url.searchParams.get(name) ?? '')
  const limits = {
    maxBytes: readBound('max_bytes') ?? 256 << 20,
    maxSeconds: readBound('max_seconds') ?? Number.POSITIVE_INFINITY,
    keep: readBound('keep') ?? 5,
  }
  url.search = ''
  return { path: fileURLToPath(url), ...limits }
}

const isBound = (name: string): name is Bound => name in BOUNDS
const parseWholeNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
