import type { MediaHealth } from '@eyrie/contract'
import type { Dependencies, Service } from '@eyrie/kit'
import { createErrorHandler, readSettings } from '@eyrie/kit'
import { handleUnmatchedRequests } from '@eyrie/kit/http-errors'
import { METRICS_CONTENT_TYPE } from '@eyrie/kit/prometheus-metrics'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { requireAccess } from './access.ts'
import { cameraRoutes } from './cameras/routes.ts'
import { type Clock, systemClock } from './clock.ts'
import { createControl } from './control/control.ts'
import { controlRoutes } from './control/routes.ts'
import { createSources, type Identity } from './control/sources.ts'
import { createCostMeter } from './costs.ts'
import { type Decoders, findDecoders } from './decode/decoders.ts'
import { createRingFolder } from './decode/ring-folder.ts'
import { createMessageSource } from './ingest/messages/source.ts'
import { createSource } from './ingest/source.ts'
import { createHosted } from './live/annotated/hosted.ts'
import { createHostedStreams } from './live/annotated/hosted-streams.ts'
import { h264Stream, liveRoutes, soundOf } from './live/routes.ts'
import { createSnapshots } from './live/snapshot.ts'
import { countByState, metrics } from './metrics.ts'
import { requirePlugins } from './plugins.ts'
import { recordingMetrics } from './record/metrics.ts'
import { createRecordings } from './record/recordings.ts'
import { recordingRoutes } from './record/routes.ts'
import { createEncoders, type Encoders } from './transcode/encoders.ts'
import { workerExecutables } from './webrtc/executable.ts'
import { whepRoutes } from './webrtc/routes.ts'
import { createWebRtc } from './webrtc/webrtc.ts'

export interface MediaDependencies extends Dependencies {
  clock?: Clock
  /** 0 to 1. */
  random?: () => number
  /** What live views are encoded with, best first; those of this machine by default. */
  encoders?: Encoders
}

/** Every camera connection: decodes once for all readers, and passes live views through as they come. */
export function createMedia(dependencies: MediaDependencies): Service {
  const { environment, log, clock = systemClock, random = Math.random } = dependencies
  const { encoders = createEncoders() } = dependencies
  const epoch = clock.wall()
  const settings = readSettings(environment.data).media
  const snapshots = createSnapshots(settings.snapshot_s)
  const rings = createRingFolder(environment.ring)
  let decoders: Decoders
  let meter: { stop(): void } | undefined

  function createWanted(wanted: Identity, beginPts: number) {
    const listener = control.listenerFor(wanted.id)
    const common = { wanted, epoch, beginPts, rings, encoders, clock, random, log, listener }
    const source =
      wanted.type === 'zmq' || wanted.type === 'zmqinternal'
        ? createMessageSource({ ...common, ringFolder: environment.ring })
        : createSource({ ...common, mediaRoots: environment.mediaRoots, decoders })
    snapshots.remember(source.variants.original)
    return source
  }

  const sources = createSources(createWanted, (source, error) => {
    log.error({ err: error, source }, 'a source cannot be what is wanted')
    control.tell({ type: 'source', status: { id: source, state: 'failed', reason: error.message } })
  })
  const hosted = createHostedStreams(sources.get, (name, source) =>
    createHosted({
      name,
      source,
      epoch,
      clock,
      log,
      encoders,
      onWatched: watched => control.tell({ type: 'watched', stream: name, watched }),
      onFailure: reason => control.tell({ type: 'stream', stream: name, reason }),
    }),
  )
  const recordings = createRecordings({
    ...{ data: environment.data, settings: settings.recording, epoch, clock, log },
    packetsOf(source) {
      const found = sources.get(source)
      return found && { stream: found.variants.original, sound: found.sound }
    },
  })
  const control = createControl({ sources, hosted, recordings, clock, log })

  const webrtc = createWebRtc({
    settings: settings.webrtc,
    host: environment.host,
    executables: environment.webrtcWorker ? [environment.webrtcWorker] : workerExecutables(environment.data),
    clock,
    random,
    log,
  })

  const app = new Hono<{ Bindings: HttpBindings }>()
  app.onError(createErrorHandler(log))
  app.use('/cameras/*', requireAccess(environment.internalToken))
  cameraRoutes(app, { mediaRoots: environment.mediaRoots, clock })
  app.use('/internal/*', requireAccess(environment.internalToken))
  // Who may ask the engine may see what it sees.
  for (const path of ['/streams/*', '/recordings/*', '/metrics'])
    app.use(path, requireAccess(environment.internalToken, environment.engineTokens))
  controlRoutes(app, control, { epoch, host: environment.host })
  liveRoutes(app, { sources, hosted }, snapshots)
  whepRoutes(
    app,
    webrtc,
    (id, form) => h264Stream(id, { sources, hosted }, form),
    id => soundOf(id, { sources, hosted }),
  )
  recordingRoutes(app, recordings)
  app.get('/metrics', c =>
    c.body(metrics(sources.all()) + recordingMetrics(recordings), 200, {
      'Content-Type': METRICS_CONTENT_TYPE,
    }),
  )
  handleUnmatchedRequests(app)

  return {
    app: app as unknown as Hono,
    async start() {
      requirePlugins()
      await rings.open()
      await recordings.start()
      decoders = await findDecoders()
      log.info({ decoders: decoders.h264 }, 'H.264 decoders, best first')
      meter = createCostMeter({ sources: sources.all, clock, tell: control.tell, log })
    },
    async stop() {
      meter?.stop()
      control.stop()
      await webrtc.stop()
      await hosted.stop()
      snapshots.stop()
      await recordings.stop()
      await sources.stop()
      await rings.close()
    },
    health: (): MediaHealth => ({
      ok: true,
      alarms: recordings.alarms(),
      epoch,
      engine: control.connected(),
      sources: countByState(sources.all()),
      webrtc: webrtc.health(),
    }),
  }
}
