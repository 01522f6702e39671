import { fileURLToPath } from 'node:url'
import { syntaxError } from '@eyrie/contract/parse'
import type { RecordingLimits } from './recording.ts'

/**
 * The query parameters of an address, which limit the recordings of the sink, with
 * their minimum values.
 */
const MIN_VALUES = { max_bytes: 1 << 20, max_seconds: 1, keep: 0 } as const
type Parameter = keyof typeof MIN_VALUES

const DEFAULT_MAX_BYTES = 256 << 20
const DEFAULT_KEEP = 5

/**
 * Checks the address of a video sink, which records channels as MP4 files. `path` is the location
 * of the address in the configuration. Throws `EyrieError` (`syntax`) with this location unless the
 * address is that of an MP4 file, with valid query parameters.
 */
export function checkVideoAddress(address: string, path: string): void {
  const url = URL.parse(address)
  if (url?.protocol !== 'file:' || !/[^/]\.mp4$/i.test(url.pathname)) {
    throw syntaxError(path, 'a sink of type video has an address such as file:///folder/name.mp4')
  }

  for (const [name, text] of url.searchParams) {
    if (!isParameter(name)) {
      throw syntaxError(
        path,
        `unknown parameter ${name}: use ${Object.keys(MIN_VALUES).join(', ')}`,
      )
    }

    const value = parseWholeNumber(text)
    if (value === undefined || value < MIN_VALUES[name]) {
      throw syntaxError(path, `${name} must be a whole number of at least ${MIN_VALUES[name]}`)
    }
  }
}

/** Parses `file:///folder/name.mp4?max_bytes=268435456&max_seconds=600&keep=5`. */
export function parseVideoAddress(address: string): RecordingLimits & { path: string } {
  const url = new URL(address)
  const readParameter = (name: Parameter) => parseWholeNumber(url.searchParams.get(name) ?? '')
  const limits = {
    maxBytes: readParameter('max_bytes') ?? DEFAULT_MAX_BYTES,
    maxSeconds: readParameter('max_seconds') ?? Number.POSITIVE_INFINITY,
    keep: readParameter('keep') ?? DEFAULT_KEEP,
  }
  url.search = ''
  return { path: fileURLToPath(url), ...limits }
}

const isParameter = (name: string): name is Parameter => name in MIN_VALUES

/** Accepts at most 15 digits, which a JavaScript number represents exactly. */
const parseWholeNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
