import { type Picture, parsePicture } from '../../gstreamer/picture.ts'
import { ANY_VIDEO } from '../../gstreamer/video-caps.ts'
import { type GstError, isGstError, Pipeline, type Sample } from '../../node-gst/index.ts'
import type { Opening, Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'
import { createHttpFault, createSilenceFault } from './http-fault.ts'
import { parseResponse, type ResponseHead } from './http-response.ts'
import type { HttpStream } from './http-stream.ts'

/** What is known of a stream over HTTP once its first picture has come. */
export interface ProbedStream {
  picture: Picture
  /** It goes on for ever; otherwise it is a file, and has to be paced. */
  live: boolean
  timeline: Origin['timeline']
}

/** A JPEG says how large it is in its own header alone, which `parsebin` does not read. */
const LAUNCH = [
  'souphttpsrc name=origin ! parsebin name=parsed',
  `parsed. ! capsfilter caps="${ANY_VIDEO.filter(caps => caps !== 'image/jpeg').join(';')}" ! funnel name=video`,
  'parsed. ! image/jpeg ! jpegparse ! video.',
  'video. ! appsink name=first sync=false async=false',
].join(' ')

/**
 * Takes the first picture and hangs up. A server may begin its stream at any time, with anything in it, or answer with
 * an error: all that is to be known before a pipeline is made for it. Throws a Fault.
 */
export async function probeHttp(
  stream: HttpStream,
  patienceMs: number,
  opening: Opening,
): Promise<ProbedStream> {
  const { clock, signal } = opening
  const seen = Promise.withResolvers<ProbedStream>()
  const done = new AbortController()
  let answer: ResponseHead | undefined
  const pipeline = new Pipeline(LAUNCH, message => {
    if (message.type === 'element') answer = parseResponse(message, clock) ?? answer
    else if (message.type === 'error') seen.reject(message.error)
    else if (message.type === 'eos') seen.reject(nothing(stream))
  })

  function take(sample: Sample) {
    const picture = sample.caps && parsePicture(sample.caps)
    if (picture) seen.resolve(describe(picture, sample.pts ?? 0, answer))
    sample.release()
  }

  try {
    stream.configure(pipeline, true)
    pipeline.samples('first', { queue: 1, full: 'drop-newest' }, take)
    const either = AbortSignal.any([signal, done.signal])
    clock.sleep(patienceMs, either).then(
      () => seen.reject(createSilenceFault(stream, patienceMs, answer)),
      () => seen.reject(new Error('it is no longer wanted')),
    )
    pipeline.setState('playing').catch(seen.reject)
    return await seen.promise
  } catch (error) {
    throw isGstError(error) ? await createHttpFault(error as GstError, stream, answer, signal) : error
  } finally {
    done.abort()
    await pipeline.dispose()
  }
}

function describe(picture: Picture, begins: number, answer: ResponseHead | undefined): ProbedStream {
  if (answer?.anchorUs !== undefined)
    return { picture, live: true, timeline: { begins, anchorUs: answer.anchorUs } }
  // Pictures without a time of their own got that of their arrival, and will again.
  if (picture.codec === 'jpeg') return { picture, live: true, timeline: undefined }
  return { picture, live: !answer?.ends, timeline: { begins, anchorUs: undefined } }
}

const nothing = ({ name }: HttpStream) =>
  new SourceFault(`${name} has ended without a picture: write the address of the camera's video stream`, {
    transient: true,
  })
