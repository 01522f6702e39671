import type { AddressObject } from '@eyrie/contract'
import { createParsedSoundElements } from '../../sound/sound-elements.ts'
import type { OpenContext, Origin } from '../origin/origin.ts'
import { createDisconnectFault } from './http-fault.ts'
import { HttpRedirect, type ProbedStream, probeHttp } from './http-probe.ts'
import { type HttpStream, openHttpStream } from './http-stream.ts'

/**
 * Generous, because cameras may send few pictures at night, and MPEG-TS starts with the next
 * keyframe.
 */
const SILENCE_MS = 10_000
const SOURCE = 'souphttpsrc name=origin ! parsebin name=demux'
const JPEG_SOURCE = `${SOURCE} ! image/jpeg ! jpegparse name=jpeg`

const MAX_REDIRECTS = 3

/**
 * Opens MJPEG, MP4 or MPEG-TS from a camera over HTTP, or the live view of another Eyrie appliance.
 */
export async function openHttp(address: AddressObject, context: OpenContext): Promise<Origin> {
  const { stream, picture, isLive, timeline } = await probeRedirected(
    await openHttpStream(address, context),
    context,
  )
  const isJpeg = picture.codec === 'jpeg'

  return {
    name: stream.name,
    elements: { h264: SOURCE, any: isJpeg ? JPEG_SOURCE : SOURCE },
    sound: createParsedSoundElements('demux'),
    configure(pipeline) {
      stream.configure(pipeline, { isLive })
      // Of several pictures in one piece of data, only the first is stamped.
      if (isJpeg) pipeline.fillTimes('jpeg', 'sink')
    },
    picture,
    isLive,
    timeline,
    silenceMs: SILENCE_MS,
    explainError: error => createDisconnectFault(error, stream),
  }
}

/** Probes a stream, and follows redirects to other paths of its server. */
async function probeRedirected(
  stream: HttpStream,
  context: OpenContext,
  redirects = 0,
): Promise<ProbedStream & { stream: HttpStream }> {
  try {
    return { stream, ...(await probeHttp(stream, SILENCE_MS, context)) }
  } catch (error) {
    if (!(error instanceof HttpRedirect) || redirects === MAX_REDIRECTS) throw error
    return probeRedirected(error.stream, context, redirects + 1)
  }
}
