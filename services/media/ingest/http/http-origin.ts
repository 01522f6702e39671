import type { AddressObject } from '@eyrie/contract'
import { createParsedSoundElements } from '../../sound/sound-elements.ts'
import type { Opening, Origin } from '../origin/origin.ts'
import { createDisconnectFault } from './http-fault.ts'
import { probeHttp } from './http-probe.ts'
import { parseHttpStream } from './http-stream.ts'

/** Live pictures come far apart at night or over TS, where a keyframe has to be waited for. */
const SILENCE_MS = 10_000
const SOURCE = 'souphttpsrc name=origin ! parsebin name=demux'

/** A camera's MJPEG, MP4 or MPEG-TS over HTTP, or the live view of another instance. */
export async function openHttp(address: AddressObject, opening: Opening): Promise<Origin> {
  const stream = parseHttpStream(address)
  const { picture, live, timeline } = await probeHttp(stream, SILENCE_MS, opening)
  return {
    name: stream.name,
    elements: { h264: SOURCE, any: picture.codec === 'jpeg' ? `${SOURCE} ! image/jpeg ! jpegparse` : SOURCE },
    sound: createParsedSoundElements('demux'),
    configure: pipeline => stream.configure(pipeline, live),
    picture,
    live,
    timeline,
    silenceMs: SILENCE_MS,
    fault: error => createDisconnectFault(error, stream),
  }
}
