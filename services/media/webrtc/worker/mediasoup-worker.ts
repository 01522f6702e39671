import { EyrieError, type WebRtcHealth } from '@eyrie/contract'
import { backoffDelayMs, type Log } from '@eyrie/kit'
import type { types } from 'mediasoup'
import type { Clock } from '../../runtime/clock.ts'
import { findWorker } from './worker-executable.ts'

/** Under which numbers a viewer knows picture and sound. */
export interface PayloadTypes {
  h264: number
  opus: number
}

/** A worker process that is there, with the sockets that all its viewers share. */
export interface RunningWorker {
  readonly server: types.WebRtcServer
  createRouter(payloadTypes: PayloadTypes): Promise<types.Router>
}

/** mediasoup's worker: a process of its own, started for the first viewer and, whenever it dies, again. */
export interface WorkerHandle {
  /** Throws EyrieError `unavailable` that says why there is none. */
  running(): Promise<RunningWorker>
  health(): Pick<WebRtcHealth, 'state' | 'reason'>
  stop(): Promise<void>
}

export interface WorkerOptions {
  /** Where its executable may lie. */
  executables: readonly string[]
  listen: readonly string[]
  ports: { min: number; max: number }
  clock: Clock
  random: () => number
  log: Log
}

const BACKOFF = { initialMs: 250, maxMs: 30_000 }
/** A worker that has lived so long was a good one. */
const STEADY_MS = 60_000

export function createWorkerHandle(options: WorkerOptions): WorkerHandle {
  const { clock, log, random } = options
  const stopping = new AbortController()
  let starting: Promise<RunningWorker> | undefined
  let current: types.Worker | undefined
  let failure: string | undefined
  let failures = 0

  async function start(): Promise<RunningWorker> {
    const found = findWorker(options.executables)
    if ('missing' in found) throw new EyrieError('unavailable', found.missing)
    // Loaded with the first viewer: who watches nothing by WebRTC pays nothing for it.
    const { createWorker } = await import('mediasoup')
    const startedAt = clock.now()
    const worker = await createWorker({ workerBin: found.executable, logLevel: 'error' }).catch(cause => {
      throw fail(`the WebRTC worker ${found.executable} does not start: ${cause.message}`)
    })
    worker.on('died', error => {
      current = undefined
      starting = undefined
      if (clock.now() - startedAt > STEADY_MS) failures = 0
      fail(`the WebRTC worker has died: ${error.message}`)
      restart()
    })
    try {
      const server = await worker.createWebRtcServer({ listenInfos: listenInfos(options) })
      if (stopping.signal.aborted) throw new Error('media is stopping')
      current = worker
      failure = undefined
      log.info({ pid: worker.pid }, 'the WebRTC worker is running')
      return { server, createRouter: payloadTypes => createRouter(worker, payloadTypes) }
    } catch (cause) {
      worker.close()
      throw fail(`the WebRTC worker cannot listen: ${(cause as Error).message}`)
    }
  }

  function fail(reason: string): EyrieError {
    failure = reason
    if (!stopping.signal.aborted) log.warn(reason)
    return new EyrieError('unavailable', reason)
  }

  function restart() {
    clock.sleep(backoffDelayMs(failures++, BACKOFF, random), stopping.signal).then(
      () => running().catch(() => {}),
      () => {},
    )
  }

  function running() {
    if (stopping.signal.aborted) throw new EyrieError('unavailable', 'media is stopping')
    starting ??= start().catch(error => {
      starting = undefined
      throw error
    })
    return starting
  }

  return {
    running: async () => running(),
    health() {
      if (current) return { state: 'running' }
      if (failure) return { state: 'failed', reason: failure }
      const found = findWorker(options.executables)
      return 'missing' in found ? { state: 'missing', reason: found.missing } : { state: 'ready' }
    },
    async stop() {
      stopping.abort()
      await starting?.catch(() => {})
      const worker = current
      current = undefined
      if (!worker) return
      const ended = new Promise<void>(resolve => worker.once('subprocessclose', resolve))
      worker.close()
      await ended
    },
  }
}

function listenInfos({ listen, ports }: WorkerOptions): types.TransportListenInfo[] {
  return listen.flatMap(ip =>
    (['udp', 'tcp'] as const).map(protocol => ({ protocol, ip, portRange: { ...ports } })),
  )
}

/** mediasoup sends with the router's payload types. The profile is a label to it: it looks into no packet. */
function createRouter(worker: types.Worker, payloadTypes: PayloadTypes): Promise<types.Router> {
  return worker.createRouter({
    mediaCodecs: [
      { ...h264, preferredPayloadType: payloadTypes.h264 },
      { ...opus, preferredPayloadType: payloadTypes.opus },
    ],
  })
}

/** How streams are described to mediasoup, whatever their profile. */
export const h264 = {
  kind: 'video',
  mimeType: 'video/H264',
  clockRate: 90_000,
  parameters: { 'packetization-mode': 1, 'profile-level-id': '42e01f', 'level-asymmetry-allowed': 1 },
} as const

/** How sound is described, whether it has one channel or two (RFC 7587, 7). */
export const opus = { kind: 'audio', mimeType: 'audio/opus', clockRate: 48_000, channels: 2 } as const
