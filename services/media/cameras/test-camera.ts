import { type AddressObject, EyrieError } from '@eyrie/contract'
import type { CameraReport } from '@eyrie/contract/camera'
import { openOrigin } from '../ingest/open-origin.ts'
import type { Opening } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { observe } from './camera-observation.ts'
import { isOnvif, type OnvifCamera, openOnvif } from './onvif-camera.ts'

/** Says what a camera is and sends, or throws EyrieError `camera` with what is wrong and what to do. */
export type CameraTest = (address: AddressObject, signal: AbortSignal) => Promise<CameraReport>

/** All of it, from the first connection on. */
const LIMIT_MS = 10_000
const MOST_AT_ONCE = 4

export function createCameraTest({ mediaRoots, clock }: Omit<Opening, 'signal'>): CameraTest {
  let running = 0

  async function test(address: AddressObject, begun: number, signal: AbortSignal): Promise<CameraReport> {
    const onvif = isOnvif(address.url) ? await openOnvif(address, { clock, signal }) : undefined
    const stream = onvif?.stream ?? address
    const origin = await openOrigin({ type: 'video', address: stream }, { mediaRoots, clock, signal })
    const { clock: told, ...seen } = await observe(origin, { begun, limitMs: LIMIT_MS, clock, signal })
    return {
      kind: onvif ? 'onvif' : kindOf(stream.url),
      url: onvif?.streams[0]?.url ?? origin.name,
      ...(onvif && { device: onvif.device, streams: onvif.streams }),
      ...seen,
      clock: told.skew_s === undefined && onvif ? clockOf(onvif) : told,
    }
  }

  return async (address, signal) => {
    if (running >= MOST_AT_ONCE) {
      throw new EyrieError(
        'unavailable',
        `${MOST_AT_ONCE} cameras are being tested: try again in a few seconds`,
      )
    }
    running++
    const [begun, over] = [clock.now(), new AbortController()]
    const either = AbortSignal.any([signal, over.signal])
    const late = clock.sleep(LIMIT_MS, either).then(
      () =>
        over.abort(
          new SourceFault(
            `the camera has not answered for ${LIMIT_MS / 1000} s: is it on, and its address right?`,
            { transient: true },
          ),
        ),
      () => {},
    )
    try {
      return await test(address, begun, either)
    } catch (error) {
      throw refusalOf(over.signal.aborted && !(error instanceof SourceFault) ? over.signal.reason : error)
    } finally {
      running--
      over.abort()
      await late
    }
  }
}

function refusalOf(error: unknown): unknown {
  return error instanceof SourceFault ? new EyrieError('camera', error.message, { cause: error }) : error
}

function kindOf(url: string): CameraReport['kind'] {
  if (/^rtsps?:/i.test(url)) return 'rtsp'
  return /^https?:/i.test(url) ? 'http' : 'device'
}

const clockOf = ({ skewS }: OnvifCamera): CameraReport['clock'] =>
  skewS === undefined ? { source: 'arrival' } : { source: 'onvif', skew_s: skewS }
