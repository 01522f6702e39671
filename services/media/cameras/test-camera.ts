import { type AddressObject, EyrieError } from '@eyrie/contract'
import type { CameraReport } from '@eyrie/contract/camera'
import { openOrigin } from '../ingest/open-origin.ts'
import type { OpenContext } from '../ingest/origin/origin.ts'
import { SourceFault } from '../ingest/origin/source-fault.ts'
import type { Clock } from '../runtime/clock.ts'
import { observeCamera } from './camera-observation.ts'
import { isOnvifAddress, type OnvifCamera, openOnvifCamera } from './onvif-camera.ts'

/**
 * Connects to a camera, before it is configured as a source, and reports its properties. Throws
 * `EyrieError` (`camera`) with the problem and a remedy.
 */
export type CameraTest = (address: AddressObject, signal: AbortSignal) => Promise<CameraReport>

/** Time limit of the whole test. */
const TIME_LIMIT_MS = 10_000
const MAX_CONCURRENT_TESTS = 4

/** Creates the function that tests a camera. It runs a limited number of tests at the same time. */
export function createCameraTest(context: Omit<OpenContext, 'signal'>): CameraTest {
  const { clock } = context
  let running = 0

  async function test(
    address: AddressObject,
    startedAt: number,
    signal: AbortSignal,
  ): Promise<CameraReport> {
    const onvif = isOnvifAddress(address.url)
      ? await openOnvifCamera(address, { ...context, signal })
      : undefined
    const stream = onvif?.stream ?? address
    const origin = await openOrigin({ type: 'video', address: stream }, { ...context, signal })
    const { clock: observedClock, ...observation } = await observeCamera(origin, {
      startedAt,
      limitMs: TIME_LIMIT_MS,
      clock,
      signal,
    })
    const isSkewKnown = observedClock.skew_s !== undefined

    return {
      kind: onvif ? 'onvif' : toKind(stream.url),
      url: onvif?.streams[0]?.url ?? origin.name,
      ...(onvif && { device: onvif.device, streams: onvif.streams }),
      ...(onvif?.subUrl && { sub_url: onvif.subUrl }),
      ...observation,
      clock: onvif && !isSkewKnown ? toCameraClock(onvif) : observedClock,
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
    try {
      const startedAt = clock.now()
      return await runWithTimeLimit(stopping => test(address, startedAt, stopping), clock, signal)
    } catch (error) {
      throw toCameraError(error)
    } finally {
      running--
    }
  }
}

/**
 * Runs a test with a signal that fires at the time limit or with `signal`. Throws a
 * `SourceFault` at the time limit.
 */
async function runWithTimeLimit<Report>(
  test: (stopping: AbortSignal) => Promise<Report>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Report> {
  // Fires at the time limit, and at the end of the test.
  const finished = new AbortController()
  const stopping = AbortSignal.any([signal, finished.signal])
  const timeout = clock.sleep(TIME_LIMIT_MS, stopping).then(
    () => finished.abort(createTimeoutFault()),
    () => {},
  )

  try {
    return await test(stopping)
  } catch (error) {
    // A fault that the test has found says more than the time limit.
    const isTimeout = finished.signal.aborted && !(error instanceof SourceFault)
    throw isTimeout ? finished.signal.reason : error
  } finally {
    finished.abort()
    await timeout
  }
}

const createTimeoutFault = () =>
  new SourceFault(
    `the camera has not responded for ${TIME_LIMIT_MS / 1000} s: check that it is on and its address is correct`,
    { transient: true },
  )

/** Converts a fault of the camera to an error of the API. Other errors remain unchanged. */
function toCameraError(error: unknown): unknown {
  return error instanceof SourceFault
    ? new EyrieError('camera', error.message, { cause: error })
    : error
}

function toKind(url: string): CameraReport['kind'] {
  if (/^rtsps?:/i.test(url)) return 'rtsp'
  return /^https?:/i.test(url) ? 'http' : 'device'
}

/** Describes the camera's clock by the time that the camera reports over ONVIF. */
const toCameraClock = ({ skewS }: OnvifCamera): CameraReport['clock'] =>
  skewS === undefined ? { source: 'arrival' } : { source: 'onvif', skew_s: skewS }
