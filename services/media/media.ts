import type { MediaHealth } from '@eyrie/contract'
import type { Dependencies, Egress, Service } from '@eyrie/kit'
import { createEgress, createErrorHandler, readSettings } from '@eyrie/kit'
import { handleUnmatchedRequests } from '@eyrie/kit/mount-routes'
import { serveMetrics } from '@eyrie/kit/prometheus-metrics'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { Registry } from 'prom-client'
import { cameraRoutes } from './cameras/camera-routes.ts'
import { controlRoutes } from './control/control-routes.ts'
import { createEngineControl, type EngineControl } from './control/engine-control.ts'
import { type Decoders, findDecoders } from './decode/decoders.ts'
import { createRingFolder } from './decode/ring-folder.ts'
import { registerNvidiaElements } from './gstreamer/nvidia.ts'
import { assertPluginsInstalled } from './gstreamer/required-plugins.ts'
import { requireAccess } from './http/require-access.ts'
import { createCrashSuspects } from './ingest/crash-suspects.ts'
import { createAnnotatedStream } from './live/annotated/annotated-stream.ts'
import { createAnnotatedStreams } from './live/annotated/annotated-streams.ts'
import { findSound, type LiveStreams, liveRoutes, openH264Stream } from './live/live-routes.ts'
import { createSnapshots, type Snapshots } from './live/snapshots/stream-snapshots.ts'
import { registerRecordingMetrics } from './recording/recording-metrics.ts'
import { recordingRoutes } from './recording/recording-routes.ts'
import { createRecordings, type Recordings } from './recording/recordings.ts'
import { type Clock, systemClock } from './runtime/clock.ts'
import { createSourceFactory } from './source-factory.ts'
import { createConditionReporter } from './sources/condition-reporter.ts'
import { createCostMeter } from './sources/cost-meter.ts'
import type { SourceIdentity } from './sources/source.ts'
import { countByState, registerSourceMetrics } from './sources/source-metrics.ts'
import { createSourceRegistry } from './sources/source-registry.ts'
import { createEncoders, type Encoders } from './transcode/encoders.ts'
import { createWebRtc, type WebRtc } from './webrtc/webrtc.ts'
import { whepRoutes } from './webrtc/whep-routes.ts'
import { workerExecutablePaths } from './webrtc/worker/worker-executable.ts'

export interface MediaDependencies extends Dependencies {
  clock?: Clock
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random?: () => number
  /** Encoders for live views, best first. Default: all encoders that work on this machine. */
  encoders?: Encoders
}

/**
 * Creates the media service, which connects to cameras, decodes each source once for all readers,
 * and serves live views and recordings.
 */
export function createMedia(dependencies: MediaDependencies): Service {
  const { environment, log, clock = systemClock, random = Math.random } = dependencies
  const { encoders = createEncoders() } = dependencies
  const egress = createEgress('camera', environment)
  /**
   * Start time, which identifies this run of the service: stream times of different
   * runs are not comparable.
   */
  const epoch = clock.wall()
  const settings = readSettings(environment.data).media
  const snapshots = createSnapshots(settings.snapshot_s)
  const rings = createRingFolder(environment.ring, epoch)
  const suspects = createCrashSuspects(environment.ring, clock, log)
  // Found and created when the service starts.
  let decoders: Decoders
  let costMeter: { stop(): void } | undefined
  let conditionReporter: { stop(): void } | undefined

  const createSourceOfType = createSourceFactory({
    epoch,
    rings,
    encoders,
    getDecoders: () => decoders,
    suspects,
    clock,
    random,
    log,
    egress,
    ringFolder: environment.ring,
    mediaRoots: environment.mediaRoots,
  })

  function createSource(identity: SourceIdentity, beginPts: number) {
    const listener = control.listenerFor(identity.id)
    const source = createSourceOfType({ identity, beginPts, listener })
    snapshots.buffer(source.variants.original)
    if (source.smallVariants) snapshots.buffer(source.smallVariants.original)
    return source
  }

  const sources = createSourceRegistry({
    create: createSource,
    onFailure(source, error) {
      log.error({ err: error, source }, 'failed to apply source configuration')
      control.notify({
        type: 'source',
        status: { id: source, state: 'failed', reason: error.message },
      })
    },
    onStuck: (source, error) => log.error({ err: error, source }, 'failed to stop source'),
  })

  const annotated = createAnnotatedStreams(sources.get, (name, source) =>
    createAnnotatedStream({
      name,
      source,
      epoch,
      clock,
      log,
      encoders,
      onWatched: watched => control.notify({ type: 'watched', stream: name, watched }),
      onFailure: reason => control.notify({ type: 'stream', stream: name, reason }),
    }),
  )

  const recordings = createRecordings({
    data: environment.data,
    settings: settings.recording,
    epoch,
    clock,
    log,
    findPackets(id) {
      const source = sources.get(id)
      return source && { stream: source.variants.playable, sound: source.sound }
    },
  })

  const control = createEngineControl({ sources, annotated, recordings, clock, log })

  const webrtc = createWebRtc({
    settings: settings.webrtc,
    host: environment.hosts.media,
    workerPaths: environment.webrtcWorker
      ? [environment.webrtcWorker]
      : workerExecutablePaths(environment.data),
    clock,
    random,
    log,
  })

  const app = createApp({
    environment,
    egress,
    log,
    clock,
    epoch,
    control,
    streams: { sources, annotated },
    snapshots,
    webrtc,
    recordings,
  })

  return {
    app: app as unknown as Hono,

    async start() {
      assertPluginsInstalled()
      await rings.open()
      suspects.load()
      await recordings.start()
      registerNvidiaElements()
      decoders = await findDecoders()
      log.info({ decoders: decoders.h264 }, 'found H.264 decoders')
      costMeter = createCostMeter({ sources: sources.list, clock, onCost: control.notify, log })
      conditionReporter = createConditionReporter({
        sources: sources.list,
        recordings: recordings.states,
        clock,
        onCondition: control.notify,
        log,
      })
    },

    // The sources are stopped after everything that reads from them.
    async stop() {
      costMeter?.stop()
      conditionReporter?.stop()
      control.stop()
      await webrtc.stop()
      await annotated.stop()
      snapshots.stop()
      await recordings.stop()
      await sources.stop()
      suspects.clear()
      await rings.close()
    },

    health: (): MediaHealth => ({
      ok: true,
      alarms: recordings.alarms(),
      epoch,
      engine: control.isConnected(),
      sources: countByState(sources.list()),
      isolation: environment.isolation,
      webrtc: webrtc.health(),
    }),
  }
}

/** The parts of the service that its HTTP API uses. */
interface ApiParts {
  environment: Dependencies['environment']
  egress: Egress
  log: Dependencies['log']
  clock: Clock
  epoch: number
  control: EngineControl
  streams: LiveStreams
  snapshots: Snapshots
  webrtc: WebRtc
  recordings: Recordings
}

/** Creates the HTTP application with the routes of the service. */
function createApp({
  environment,
  egress,
  log,
  streams,
  ...parts
}: ApiParts): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.onError(createErrorHandler(log))

  for (const path of ['/cameras/*', '/internal/*']) {
    app.use(path, requireAccess(environment.internalToken))
  }
  // Clients of the engine may also view the pictures that it analyses.
  for (const path of ['/streams/*', '/recordings/*', '/metrics']) {
    app.use(path, requireAccess(environment.internalToken, environment.engineTokenDigests))
  }

  cameraRoutes(app, { mediaRoots: environment.mediaRoots, clock: parts.clock, egress })
  controlRoutes(app, parts.control, { epoch: parts.epoch, host: environment.hosts.media })
  liveRoutes(app, streams, parts.snapshots, parts.webrtc)
  whepRoutes(
    app,
    parts.webrtc,
    (id, form) => openH264Stream(id, streams, form),
    id => findSound(id, streams),
  )
  recordingRoutes(app, parts.recordings)

  const metrics = new Registry()
  registerSourceMetrics(metrics, streams.sources.list)
  registerRecordingMetrics(metrics, parts.recordings)
  app.get('/metrics', serveMetrics(metrics))

  handleUnmatchedRequests(app)
  return app
}
