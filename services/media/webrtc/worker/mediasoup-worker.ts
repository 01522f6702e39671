import { EyrieError, type WebRtcHealth } from '@eyrie/contract'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { types } from 'mediasoup'
import type { Clock } from '../../runtime/clock.ts'
import { findWorkerExecutable } from './worker-executable.ts'

/**
 * The RTP payload types (numbers that identify a format) in the connections of viewers, which the
 * worker process sends to.
 */
export interface PayloadTypes {
  h264: number
  opus: number
}

/** A running mediasoup worker process, with listening sockets that all viewers share. */
export interface WebRtcWorker {
  readonly server: types.WebRtcServer
  createRouter(payloadTypes: PayloadTypes): Promise<types.Router>
}

/**
 * Starts the mediasoup worker process for the first viewer, and restarts it with
 * back-off when it dies.
 */
export interface WorkerSupervisor {
  /**
   * Starts the worker if necessary. Throws `EyrieError` (`unavailable`) with the
   * reason if it cannot run.
   */
  getWorker(): Promise<WebRtcWorker>
  health(): Pick<WebRtcHealth, 'state' | 'reason'>
  stop(): Promise<void>
}

export interface WorkerSupervisorOptions {
  /** Paths at which the worker executable may be installed. */
  workerPaths: readonly string[]
  /** IP addresses for UDP and TCP. */
  listen: readonly string[]
  ports: { min: number; max: number }
  clock: Clock
  random: () => number
  log: Log
}

/**
 * H.264 as declared to mediasoup. The profile is the same for all streams, because
 * mediasoup does not check it.
 */
export const H264_CODEC = {
  kind: 'video',
  mimeType: 'video/H264',
  clockRate: 90_000,
  parameters: {
    'packetization-mode': 1,
    'profile-level-id': '42e01f',
    'level-asymmetry-allowed': 1,
  },
} as const

/** Opus is always declared with two channels, for mono as well (RFC 7587, 7). */
export const OPUS_CODEC = {
  kind: 'audio',
  mimeType: 'audio/opus',
  clockRate: 48_000,
  channels: 2,
} as const

const BACKOFF = { initialMs: 250, maxMs: 30_000 }
/** Lifetime of a worker after which the back-off restarts from its first step. */
const STABLE_MS = 60_000

type WorkerState =
  /** `failure` is the reason why the last worker failed; undefined if no worker has failed. */
  | { kind: 'stopped'; failure?: string }
  | { kind: 'starting'; worker: Promise<WebRtcWorker>; failure?: string }
  | { kind: 'running'; worker: WebRtcWorker; workerProcess: types.Worker }

export function createWorkerSupervisor(options: WorkerSupervisorOptions): WorkerSupervisor {
  const { clock, log, random } = options
  const stopping = new AbortController()
  let state: WorkerState = { kind: 'stopped' }
  let consecutiveFailures = 0

  async function getWorker(): Promise<WebRtcWorker> {
    if (stopping.signal.aborted) {
      throw new EyrieError('unavailable', 'the media service is stopping')
    }
    if (state.kind !== 'stopped') return state.worker

    const located = findWorkerExecutable(options.workerPaths)
    if ('missing' in located) throw new EyrieError('unavailable', located.missing)
    const worker = start(located.executable)
    state = { kind: 'starting', worker, failure: state.failure }
    return worker
  }

  async function start(executable: string): Promise<WebRtcWorker> {
    try {
      return await startProcess(executable)
    } catch (cause) {
      const reason = (cause as Error).message
      handleFailure(reason)
      throw new EyrieError('unavailable', reason, { cause })
    }
  }

  async function startProcess(executable: string): Promise<WebRtcWorker> {
    // Imported lazily: an appliance without WebRTC viewers does not load mediasoup.
    const { createWorker } = await import('mediasoup')

    const startedAt = clock.now()
    const workerProcess = await createWorker({ workerBin: executable, logLevel: 'error' }).catch(
      cause => {
        throw new Error(`the WebRTC worker ${executable} does not start: ${cause.message}`, {
          cause,
        })
      },
    )
    workerProcess.on('died', error => {
      if (clock.now() - startedAt > STABLE_MS) consecutiveFailures = 0
      handleFailure(`the WebRTC worker has died: ${error.message}`)
      void restart()
    })

    try {
      const server = await workerProcess.createWebRtcServer({
        listenInfos: createListenInfos(options),
      })
      if (stopping.signal.aborted) throw new Error('the media service is stopping')

      const worker: WebRtcWorker = {
        server,
        createRouter: payloadTypes => createRouter(workerProcess, payloadTypes),
      }
      state = { kind: 'running', worker, workerProcess }
      log.info({ pid: workerProcess.pid }, 'WebRTC worker started')
      return worker
    } catch (cause) {
      workerProcess.close()
      throw new Error(`the WebRTC worker cannot listen: ${(cause as Error).message}`, { cause })
    }
  }

  function handleFailure(reason: string): void {
    state = { kind: 'stopped', failure: reason }
    if (!stopping.signal.aborted) log.warn({ reason }, 'failed to run WebRTC worker')
  }

  /** Starts the worker after the back-off delay, unless a viewer starts it earlier. */
  async function restart(): Promise<void> {
    const delayMs = backoffDelayMs(consecutiveFailures, BACKOFF, random)
    consecutiveFailures++
    try {
      await clock.sleep(delayMs, stopping.signal)
      await getWorker()
    } catch {
      // Either the service is stopping, or the failure is logged and the next viewer starts the
      // worker.
    }
  }

  return {
    getWorker,
    health() {
      if (state.kind === 'running') return { state: 'running' }
      if (state.failure) return { state: 'failed', reason: state.failure }
      const located = findWorkerExecutable(options.workerPaths)
      return 'missing' in located
        ? { state: 'missing', reason: located.missing }
        : { state: 'ready' }
    },
    async stop() {
      stopping.abort()
      // A worker that is starting closes itself, because the signal is aborted. Its
      // error is for the viewer.
      if (state.kind === 'starting') await state.worker.catch(() => {})
      if (state.kind !== 'running') return

      const { workerProcess } = state
      state = { kind: 'stopped' }
      const exited = new Promise<void>(resolve => workerProcess.once('subprocessclose', resolve))
      workerProcess.close()
      await exited
    },
  }
}

function createListenInfos({
  listen,
  ports,
}: WorkerSupervisorOptions): types.TransportListenInfo[] {
  const protocols = ['udp', 'tcp'] as const
  return listen.flatMap(ip =>
    protocols.map(protocol => ({ protocol, ip, portRange: { ...ports } })),
  )
}

/** Creates a router. mediasoup sends to viewers with the payload types of the router. */
function createRouter(worker: types.Worker, payloadTypes: PayloadTypes): Promise<types.Router> {
  return worker.createRouter({
    mediaCodecs: [
      { ...H264_CODEC, preferredPayloadType: payloadTypes.h264 },
      { ...OPUS_CODEC, preferredPayloadType: payloadTypes.opus },
    ],
  })
}
