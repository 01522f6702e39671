import { type Picture, parsePicture } from '../../gstreamer/picture.ts'
import { ANY_VIDEO } from '../../gstreamer/video-caps.ts'
import { isGstError, Pipeline, type Sample } from '../../node-gst/index.ts'
import type { OpenContext, Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import {
  createHttpFault,
  createManifestFault,
  createPageFault,
  createSilenceFault,
} from './http-fault.ts'
import { isPage, parseResponse, type ResponseHead } from './http-response.ts'
import type { HttpStream } from './http-stream.ts'

const VIDEO_EXCEPT_JPEG = ANY_VIDEO.filter(caps => caps !== 'image/jpeg').join(';')

/** Properties of a stream over HTTP, determined from its response headers and first picture. */
export interface ProbedStream {
  picture: Picture
  /** False for a file, which is played in real time although it could be read faster. */
  isLive: boolean
  timeline: Origin['timeline']
}

/**
 * Thrown if the server redirects to another of its paths. `stream` is the one at that path. The
 * message is for a redirect that is no longer followed.
 */
export class HttpRedirect extends Error {
  readonly stream: HttpStream

  constructor(stream: HttpStream) {
    super(`${stream.name} is the target of too many redirects: use the final address`)
    this.stream = stream
  }
}

/**
 * Launch string of the pipeline. Its appsink `first` receives the first picture. JPEGs pass through
 * `jpegparse`, because `parsebin` does not determine their size.
 */
const LAUNCH = [
  'souphttpsrc name=origin ! parsebin name=parsed',
  `parsed. ! capsfilter caps="${VIDEO_EXCEPT_JPEG}" ! funnel name=video`,
  'parsed. ! image/jpeg ! jpegparse ! video.',
  'video. ! appsink name=first sync=false async=false',
].join(' ')

/**
 * Connects to a server, receives the first picture and disconnects. This must precede playback,
 * whose pipeline depends on the format and on whether the stream is live. Throws a `SourceFault` if
 * no picture arrives within `timeoutMs`, and `HttpRedirect`.
 */
export async function probeHttp(
  stream: HttpStream,
  timeoutMs: number,
  context: OpenContext,
): Promise<ProbedStream> {
  const { clock, signal } = context
  const probed = Promise.withResolvers<ProbedStream>()
  const finished = new AbortController()
  let response: ResponseHead | undefined

  const pipeline = new Pipeline(LAUNCH, message => {
    if (message.type === 'element') onResponse(parseResponse(message, clock))
    else if (message.type === 'error') probed.reject(message.error)
    else if (message.type === 'eos') probed.reject(createEndFault(stream))
  })

  function onResponse(head: ResponseHead | undefined) {
    if (!head) return
    response = head
    const manifestFault = createManifestFault(stream, head)
    if (manifestFault) probed.reject(manifestFault)
    else if (isPage(head)) probed.reject(createPageFault(stream, head))
  }

  function onSample(sample: Sample) {
    const picture = sample.caps && parsePicture(sample.caps)
    if (picture) probed.resolve(describeStream(picture, sample.pts ?? 0, response))
    sample.release()
  }

  try {
    stream.configure(pipeline, { isLive: true })
    pipeline.samples('first', { queue: 1, full: 'drop-newest' }, onSample)

    // After the promise is resolved, its rejection at the end of the sleep has no effect.
    clock.sleep(timeoutMs, AbortSignal.any([signal, finished.signal])).then(
      () => probed.reject(createSilenceFault(stream, timeoutMs, response)),
      () => probed.reject(new Error('the source was stopped')),
    )

    pipeline.setState('playing').catch(probed.reject)
    return await probed.promise
  } catch (error) {
    throw await toProbeError(error, { stream, response }, context)
  } finally {
    finished.abort()
    await pipeline.dispose()
  }
}

/** Converts an error of the pipeline to the error that explains it, by the server's response. */
async function toProbeError(
  error: unknown,
  probed: { stream: HttpStream; response: ResponseHead | undefined },
  context: OpenContext,
): Promise<unknown> {
  const { stream, response } = probed
  const redirected = response?.location && stream.redirect(response.location)
  if (redirected) return new HttpRedirect(redirected)
  return isGstError(error) ? createHttpFault(error, probed, context) : error
}

/**
 * Determines how a stream is played. `beginTicks` is the time of its first picture. A server that
 * sends the wall clock of its pictures is another Eyrie appliance.
 */
function describeStream(
  picture: Picture,
  beginTicks: number,
  response: ResponseHead | undefined,
): ProbedStream {
  if (response?.anchorUs !== undefined) {
    return { picture, isLive: true, timeline: { beginTicks, anchorUs: response.anchorUs } }
  }
  // JPEGs have no timestamps. They are stamped on arrival, so their time begins anew
  // with each connection.
  if (picture.codec === 'jpeg') return { picture, isLive: true, timeline: undefined }
  return {
    picture,
    isLive: response?.length === undefined,
    timeline: { beginTicks, anchorUs: undefined },
  }
}

const createEndFault = ({ name }: HttpStream) =>
  new SourceFault(`${name} ended without a picture: use the address of the camera's video stream`, {
    transient: true,
  })
