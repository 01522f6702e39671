import type { RecordedFrame } from '@eyrie/contract/recording'
import { requestStream, type StreamedResponse } from '../../api/streamed-response.ts'
import { createFragmentReader, type PlaybackFragment } from './playback-fragment.ts'

/** A request for a time range of a recording. Times are in ms since 1970; `toMs` is exclusive. */
export interface RecordingRequest {
  stream: number
  fromMs: number
  toMs: number
  signal: AbortSignal
}

/** A fragment of a response. */
export interface ReceivedFragment extends PlaybackFragment {
  /**
   * Whether the response ends with it. Its last frame then has the duration of its packet, and
   * otherwise lasts until the next fragment.
   */
  isLast: boolean
}

export interface RecordingResponse {
  /** MIME type with the codecs. */
  type: string
  /** The initialization segment, and the fragments from the keyframe at or before `fromMs`. */
  fragments: AsyncGenerator<ReceivedFragment>
}

export async function requestRecording(range: RecordingRequest): Promise<RecordingResponse> {
  const { headers, chunks } = await requestRange(`/live/recordings/${range.stream}`, range)
  return { type: headers.get('Content-Type') ?? '', fragments: readFragments(chunks) }
}

/** Yields the analysis results, one frame per line. */
export async function* requestMetadata(range: RecordingRequest): AsyncGenerator<RecordedFrame> {
  const { chunks } = await requestRange(`/live/recordings/${range.stream}/metadata`, range)
  for await (const line of readLines(chunks)) yield JSON.parse(line)
}

function requestRange(path: string, { fromMs, toMs, signal }: RecordingRequest) {
  const query = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  })
  return requestStream(`${path}?${query}`, { signal })
}

async function* readFragments(
  chunks: StreamedResponse['chunks'],
): AsyncGenerator<ReceivedFragment> {
  const read = createFragmentReader()
  /** Whether it is the last fragment is known when more bytes arrive. */
  let newest: PlaybackFragment | undefined
  for await (const chunk of chunks) {
    if (newest) yield { ...newest, isLast: false }
    const complete = read(chunk)
    newest = complete.pop()
    for (const fragment of complete) yield { ...fragment, isLast: false }
  }
  if (newest) yield { ...newest, isLast: true }
}

/** Yields the lines of a text, without empty ones. */
async function* readLines(chunks: StreamedResponse['chunks']): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let incompleteLine = ''
  for await (const chunk of chunks) {
    const lines = (incompleteLine + decoder.decode(chunk, { stream: true })).split('\n')
    incompleteLine = lines.pop()!
    yield* lines.filter(line => line !== '')
  }
}
