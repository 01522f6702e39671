import type { AddressObject } from '@eyrie/contract'
import { createParsedSoundElements } from '../../sound/sound-elements.ts'
import type { OpenContext, Origin } from '../origin/origin.ts'
import { createDisconnectFault } from './http-fault.ts'
import { probeHttp } from './http-probe.ts'
import { parseHttpStream } from './http-stream.ts'

/** Generous, because cameras may send few pictures at night, and MPEG-TS starts with the next keyframe. */
const SILENCE_MS = 10_000
const SOURCE = 'souphttpsrc name=origin ! parsebin name=demux'

/** Opens MJPEG, MP4 or MPEG-TS from a camera over HTTP, or the live view of another Eyrie appliance. */
export async function openHttp(address: AddressObject, context: OpenContext): Promise<Origin> {
  const stream = parseHttpStream(address)
  const { picture, live, timeline } = await probeHttp(stream, SILENCE_MS, context)
  const anyVideo = picture.codec === 'jpeg' ? `${SOURCE} ! image/jpeg ! jpegparse` : SOURCE

  return {
    name: stream.name,
    elements: { h264: SOURCE, any: anyVideo },
    sound: createParsedSoundElements('demux'),
    configure: pipeline => stream.configure(pipeline, live),
    picture,
    live,
    timeline,
    silenceMs: SILENCE_MS,
    fault: error => createDisconnectFault(error, stream),
  }
}
