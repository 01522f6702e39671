import { EyrieError, type WebRtcHealth } from '@eyrie/contract'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { types } from 'mediasoup'
import type { Clock } from '../../runtime/clock.ts'
import { findWorkerExecutable } from './worker-executable.ts'

/** RTP payload types in a viewer's connection. */
export interface PayloadTypes {
  h264: number
  opus: number
}

/** A running worker process with the listening sockets that all viewers share. */
export interface WebRtcWorker {
  readonly server: types.WebRtcServer
  createRouter(payloadTypes: PayloadTypes): Promise<types.Router>
}

/** Starts mediasoup's worker process for the first viewer, and restarts it with back-off whenever it dies. */
export interface WorkerSupervisor {
  /** Starts the worker if necessary. Throws `EyrieError` (`unavailable`) with the reason if it cannot run. */
  getWorker(): Promise<WebRtcWorker>
  health(): Pick<WebRtcHealth, 'state' | 'reason'>
  stop(): Promise<void>
}

export interface WorkerSupervisorOptions {
  /** Paths at which the executable may be installed. */
  workerPaths: readonly string[]
  /** IP addresses for UDP and TCP. */
  listen: readonly string[]
  ports: { min: number; max: number }
  clock: Clock
  random: () => number
  log: Log
}

const BACKOFF = { initialMs: 250, maxMs: 30_000 }
/** Lifetime of a worker after which the back-off starts again from the first step. */
const STABLE_MS = 60_000

export function createWorkerSupervisor(options: WorkerSupervisorOptions): WorkerSupervisor {
  const { clock, log, random } = options
  const stopping = new AbortController()
  let starting: Promise<WebRtcWorker> | undefined
  let running: types.Worker | undefined
  let failure: string | undefined
  let failures = 0

  async function start(): Promise<WebRtcWorker> {
    const located = findWorkerExecutable(options.workerPaths)
    if ('missing' in located) throw new EyrieError('unavailable', located.missing)
    // Imported with the first viewer: an appliance without WebRTC viewers does not load mediasoup.
    const { createWorker } = await import('mediasoup')
    const startedAt = clock.now()
    const worker = await createWorker({ workerBin: located.executable, logLevel: 'error' }).catch(cause => {
      throw recordFailure(`the WebRTC worker ${located.executable} does not start: ${cause.message}`)
    })
    worker.on('died', error => {
      running = undefined
      starting = undefined
      if (clock.now() - startedAt > STABLE_MS) failures = 0
      recordFailure(`the WebRTC worker has died: ${error.message}`)
      scheduleRestart()
    })
    try {
      const server = await worker.createWebRtcServer({ listenInfos: createListenInfos(options) })
      if (stopping.signal.aborted) throw new Error('media is stopping')
      running = worker
      failure = undefined
      log.info({ pid: worker.pid }, 'WebRTC worker started')
      return { server, createRouter: payloadTypes => createRouter(worker, payloadTypes) }
    } catch (cause) {
      worker.close()
      throw recordFailure(`the WebRTC worker cannot listen: ${(cause as Error).message}`)
    }
  }

  function recordFailure(reason: string): EyrieError {
    failure = reason
    if (!stopping.signal.aborted) log.warn({ reason }, 'failed to run WebRTC worker')
    return new EyrieError('unavailable', reason)
  }

  function scheduleRestart() {
    clock.sleep(backoffDelayMs(failures++, BACKOFF, random), stopping.signal).then(
      () => getWorker().catch(() => {}),
      () => {},
    )
  }

  async function getWorker() {
    if (stopping.signal.aborted) throw new EyrieError('unavailable', 'media is stopping')
    starting ??= start().catch(error => {
      starting = undefined
      throw error
    })
    return starting
  }

  return {
    getWorker,
    health() {
      if (running) return { state: 'running' }
      if (failure) return { state: 'failed', reason: failure }
      const located = findWorkerExecutable(options.workerPaths)
      return 'missing' in located ? { state: 'missing', reason: located.missing } : { state: 'ready' }
    },
    async stop() {
      stopping.abort()
      await starting?.catch(() => {})
      const worker = running
      running = undefined
      if (!worker) return
      const exited = new Promise<void>(resolve => worker.once('subprocessclose', resolve))
      worker.close()
      await exited
    },
  }
}

function createListenInfos({ listen, ports }: WorkerSupervisorOptions): types.TransportListenInfo[] {
  return listen.flatMap(ip =>
    (['udp', 'tcp'] as const).map(protocol => ({ protocol, ip, portRange: { ...ports } })),
  )
}

/** mediasoup sends with the payload types of the router. It does not check the profile against the packets. */
function createRouter(worker: types.Worker, payloadTypes: PayloadTypes): Promise<types.Router> {
  return worker.createRouter({
    mediaCodecs: [
      { ...h264Codec, preferredPayloadType: payloadTypes.h264 },
      { ...opusCodec, preferredPayloadType: payloadTypes.opus },
    ],
  })
}

/** The codec as declared to mediasoup, for streams of every profile. */
export const h264Codec = {
  kind: 'video',
  mimeType: 'video/H264',
  clockRate: 90_000,
  parameters: { 'packetization-mode': 1, 'profile-level-id': '42e01f', 'level-asymmetry-allowed': 1 },
} as const

/** Opus is always declared with two channels, for mono as well (RFC 7587, 7). */
export const opusCodec = {
  kind: 'audio',
  mimeType: 'audio/opus',
  clockRate: 48_000,
  channels: 2,
} as const
