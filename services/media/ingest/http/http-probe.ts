import { type Picture, parsePicture } from '../../gstreamer/picture.ts'
import { ANY_VIDEO } from '../../gstreamer/video-caps.ts'
import { isGstError, Pipeline, type Sample } from '../../node-gst/index.ts'
import type { OpenContext, Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { createHttpFault, createSilenceFault } from './http-fault.ts'
import { parseResponse, type ResponseHead } from './http-response.ts'
import type { HttpStream } from './http-stream.ts'

/** A stream over HTTP, as its first picture describes it. */
export interface ProbedStream {
  picture: Picture
  /** Without an end. Otherwise it is a file, which must be paced. */
  live: boolean
  timeline: Origin['timeline']
}

/** Only `jpegparse` reads the size of a JPEG; `parsebin` does not. */
const LAUNCH = [
  'souphttpsrc name=origin ! parsebin name=parsed',
  `parsed. ! capsfilter caps="${ANY_VIDEO.filter(caps => caps !== 'image/jpeg').join(';')}" ! funnel name=video`,
  'parsed. ! image/jpeg ! jpegparse ! video.',
  'video. ! appsink name=first sync=false async=false',
].join(' ')

/**
 * Receives the first picture and disconnects. A server may send any kind of stream, at any time, or an error: all that must be
 * known before a pipeline is created. Throws a `SourceFault` if no picture arrives.
 */
export async function probeHttp(
  stream: HttpStream,
  timeoutMs: number,
  { clock, signal }: OpenContext,
): Promise<ProbedStream> {
  const probed = Promise.withResolvers<ProbedStream>()
  const done = new AbortController()
  let response: ResponseHead | undefined
  const pipeline = new Pipeline(LAUNCH, message => {
    if (message.type === 'element') response = parseResponse(message, clock) ?? response
    else if (message.type === 'error') probed.reject(message.error)
    else if (message.type === 'eos') probed.reject(createEndFault(stream))
  })

  function onSample(sample: Sample) {
    const picture = sample.caps && parsePicture(sample.caps)
    if (picture) probed.resolve(describeStream(picture, sample.pts ?? 0, response))
    sample.release()
  }

  try {
    stream.configure(pipeline, true)
    pipeline.samples('first', { queue: 1, full: 'drop-newest' }, onSample)
    clock.sleep(timeoutMs, AbortSignal.any([signal, done.signal])).then(
      () => probed.reject(createSilenceFault(stream, timeoutMs, response)),
      () => probed.reject(new Error('the source was stopped')),
    )
    pipeline.setState('playing').catch(probed.reject)
    return await probed.promise
  } catch (error) {
    throw isGstError(error) ? await createHttpFault(error, stream, response, signal) : error
  } finally {
    done.abort()
    await pipeline.dispose()
  }
}

function describeStream(picture: Picture, begins: number, response: ResponseHead | undefined): ProbedStream {
  if (response?.anchorUs !== undefined)
    return { picture, live: true, timeline: { begins, anchorUs: response.anchorUs } }
  // JPEGs without timestamps are stamped on arrival, in the next session as well.
  if (picture.codec === 'jpeg') return { picture, live: true, timeline: undefined }
  return { picture, live: !response?.hasLength, timeline: { begins, anchorUs: undefined } }
}

const createEndFault = ({ name }: HttpStream) =>
  new SourceFault(`${name} ended without a picture: use the address of the camera's video stream`, {
    transient: true,
  })
