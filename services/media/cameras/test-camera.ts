import { type AddressObject, EyrieError } from '@eyrie/contract'
import type { CameraReport } from '@eyrie/contract/camera'
import { openOrigin } from '../ingest/open-origin.ts'
import type { OpenContext } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import { observeCamera } from './camera-observation.ts'
import { isOnvifAddress, type OnvifCamera, openOnvifCamera } from './onvif-camera.ts'

/** Reports what a camera is and sends. Throws `EyrieError` (`camera`) with what is wrong and what to do. */
export type CameraTest = (address: AddressObject, signal: AbortSignal) => Promise<CameraReport>

/** For the whole test, from the first connection. */
const TIME_LIMIT_MS = 10_000
const MAX_CONCURRENT_TESTS = 4

export function createCameraTest({ mediaRoots, clock }: Omit<OpenContext, 'signal'>): CameraTest {
  let running = 0

  async function test(address: AddressObject, startedAt: number, signal: AbortSignal): Promise<CameraReport> {
    const onvif = isOnvifAddress(address.url) ? await openOnvifCamera(address, { clock, signal }) : undefined
    const stream = onvif?.stream ?? address
    const origin = await openOrigin({ type: 'video', address: stream }, { mediaRoots, clock, signal })
    const { clock: observedClock, ...observation } = await observeCamera(origin, {
      startedAt,
      limitMs: TIME_LIMIT_MS,
      clock,
      signal,
    })
    return {
      kind: onvif ? 'onvif' : toKind(stream.url),
      url: onvif?.streams[0]?.url ?? origin.name,
      ...(onvif && { device: onvif.device, streams: onvif.streams }),
      ...observation,
      clock: observedClock.skew_s === undefined && onvif ? toCameraClock(onvif) : observedClock,
    }
  }

  return async (address, signal) => {
    if (running >= MAX_CONCURRENT_TESTS) {
      throw new EyrieError(
        'unavailable',
        `${MAX_CONCURRENT_TESTS} cameras are already being tested: try again in a few seconds`,
      )
    }
    running++
    const startedAt = clock.now()
    const done = new AbortController()
    const stopping = AbortSignal.any([signal, done.signal])
    const timeout = clock.sleep(TIME_LIMIT_MS, stopping).then(
      () => done.abort(createTimeoutFault()),
      () => {},
    )
    try {
      return await test(address, startedAt, stopping)
    } catch (error) {
      const isTimeout = done.signal.aborted && !(error instanceof SourceFault)
      throw toCameraError(isTimeout ? done.signal.reason : error)
    } finally {
      running--
      done.abort()
      await timeout
    }
  }
}

const createTimeoutFault = () =>
  new SourceFault(
    `the camera has not responded for ${TIME_LIMIT_MS / 1000} s: check that it is on and its address is correct`,
    { transient: true },
  )

function toCameraError(error: unknown): unknown {
  return error instanceof SourceFault ? new EyrieError('camera', error.message, { cause: error }) : error
}

function toKind(url: string): CameraReport['kind'] {
  if (/^rtsps?:/i.test(url)) return 'rtsp'
  return /^https?:/i.test(url) ? 'http' : 'device'
}

const toCameraClock = ({ skewS }: OnvifCamera): CameraReport['clock'] =>
  skewS === undefined ? { source: 'arrival' } : { source: 'onvif', skew_s: skewS }
