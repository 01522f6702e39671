import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '@eyrie/contract/settings'
import {
  createEgress,
  type Dependencies,
  type Environment,
  type Log,
  lockFolder,
  monitorDisk,
  readSettings,
  type Service,
  startTracer,
} from '@eyrie/kit'
import { loadSecrets } from '@eyrie/kit/secrets'
import { SHIPPED_MODELS } from '@eyrie/model-store'
import { Hono } from 'hono'
import { createActivation } from './activation/activation.ts'
import { createAdmission } from './admission/admission.ts'
import { openCostStore } from './admission/cost-store.ts'
import type { ApiContext } from './api/operations/api-context.ts'
import { readHealth } from './api/operations/engine-status.ts'
import { serveApi } from './api/serve-api.ts'
import { createCameras } from './cameras/cameras.ts'
import { createConfiguration } from './configuration/configuration.ts'
import {
  joinManagement,
  readOrCreateIdentity,
  readOrCreateToken,
} from './joining/join-management.ts'
import { createFramePictureLoader, type MediaAccess } from './media/frame-picture.ts'
import { DetectorMonitor } from './models/detector-monitor.ts'
import { openModelSwitchHistory } from './models/model-switch-history.ts'
import { createModels } from './models/models.ts'
import { openPluginComponents } from './open-plugin-components.ts'
import { createOutput } from './output/output.ts'
import manifest from './package.json' with { type: 'json' }
import { createChannelSnapshots } from './pictures/channel-snapshots.ts'
import { findShapes } from './pictures/drawing.ts'
import { createEventPictures } from './pictures/event-pictures.ts'
import { createFrameHistory } from './pictures/frame-history.ts'
import { createPictureStore } from './pictures/picture-store.ts'
import { createPlugins } from './plugins/plugins.ts'
import { openSwitchHistory } from './plugins/upgrade/switch-history.ts'
import { startRuntime } from './runtime/start-runtime.ts'
import { createSystemMeter } from './statistics/system-meter.ts'
import { VersionHealth } from './upgrade/version-health.ts'

/** Maximum number of files in a plugin package. */
const MAX_PLUGIN_FILES = 5000

/**
 * The engine service: it analyses the sources that its configuration lists, and serves the
 * results through its API.
 */
export function createEngine(dependencies: Dependencies): Service {
  const { environment, log } = dependencies
  const app = new Hono()
  const { pluginTokens, joinToken } = environment
  const joins = joinToken !== undefined
  const ownTokens =
    joins && environment.engineTokens.length === 0 ? [readOrCreateToken(environment.data)] : []
  const engineTokens = [...environment.engineTokens, ...ownTokens]
  const tokens = [...engineTokens, ...pluginTokens]
  const stops: (() => unknown)[] = []
  let context: ApiContext | undefined

  return {
    app,
    ...(tokens.length === 0 && { host: '127.0.0.1' }),
    start: async () => {
      const settings = readSettings(environment.data).engine
      context = await startComponents(dependencies, settings, stop => stops.push(stop))
      if (joins) stops.push(startJoining(dependencies, joinToken, engineTokens[0]!))
      serveApi(app, context, {
        tokens,
        pluginTokens,
        packageBytes: settings.plugin_package_bytes,
        log,
      })
    },
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop()
    },
    health: () => (context ? readHealth(context) : { ok: false, reason: 'the engine is starting' }),
  }
}

/** Registers the engine with the management service, which then connects to it. */
function startJoining({ environment, log }: Dependencies, joinToken: string, token: string) {
  const port = environment.ports.engine
  if (port === 0) throw new Error('EYRIE_ENGINE_PORT must not be 0 with a join token')
  return joinManagement({
    url: environment.urls.management,
    joinToken,
    identity: readOrCreateIdentity(join(environment.data, 'engine')),
    name: hostname(),
    port,
    isSecure: environment.tls !== undefined,
    token,
    log,
  })
}

type EngineSettings = Settings['engine']

/**
 * Registers how a component is stopped. Components are stopped in the reverse order of their start.
 */
type OnStop = (stop: () => unknown) => void

/** The common parameters of the functions that start components. */
interface StartContext {
  environment: Environment
  settings: EngineSettings
  /** Data folder of the engine. */
  folder: string
  log: Log
  onStop: OnStop
}

/**
 * Creates and starts the components of the engine, each after the components that it depends on.
 * Activation and configuration register no `onStop`: they write each change to disk before they
 * report it, and run nothing in between.
 */
async function startComponents(
  { environment, log }: Dependencies,
  settings: EngineSettings,
  onStop: OnStop,
): Promise<ApiContext> {
  const folder = join(environment.data, 'engine')
  const context: StartContext = { environment, settings, folder, log, onStop }
  onStop(await lockFolder(folder))
  const disk = monitorDisk(folder, log)
  onStop(disk.stop)
  const tracer = await startTracer(environment.tracing, 'engine', log)
  onStop(tracer.shutdown)

  // Components that store the results of the channels and send them to clients.
  const media = { url: environment.urls.media, token: environment.internalToken }
  const output = await startOutput(context)
  const { pictures, eventPictures } = await startPictures(context, media)
  // This function is called for frames, which arrive only after the configuration has been created.
  const frameHistory = createFrameHistory(channel =>
    configuration.channels().some(({ id }) => id === channel),
  )

  // The runtime, which runs the elements of the installed plugins, and measures
  // their costs in CPU time.
  const { costs, stop: stopCostStore } = await openCostStore(join(folder, 'costs.json'), log)
  onStop(stopCostStore)

  const pluginFolder = join(environment.data, 'plugins')
  const { pluginStore, pluginTrust, quarantine, grants, sandboxes, deleteFiles } =
    await openPluginComponents({
      ...context,
      pluginFolder,
      // These two functions are called for requests of the API, which is served when everything has
      // started.
      listPipelines: () => configuration.get().value.pipelines,
      retryChannels: () => {
        for (const { id } of configuration.channels()) runtime.retryChannel(id)
      },
    })
  const versionHealth = new VersionHealth()
  // Replaced when the plugins can be switched.
  let reviewSwitch = (_plugin: string) => {}
  const modelHistory = openModelSwitchHistory({ file: join(folder, 'model-switches.json'), log })
  const monitor = new DetectorMonitor()
  const {
    runtime,
    catalog,
    createCatalogFor,
    models: runtimeModels,
    isolation,
    stop,
  } = await startRuntime({
    mediaUrl: environment.urls.media,
    internalToken: environment.internalToken,
    egress: createEgress('sink', environment),
    ring: environment.ring,
    elements: pluginStore.elements,
    sandboxes,
    modelFolders: [join(environment.data, 'models'), SHIPPED_MODELS],
    findSelectedModel: modelHistory.findSelected,
    pluginModelFolder: join(folder, 'plugin-models'),
    inferenceWorkers: settings.inference_workers,
    publishing: { frameHistory, eventPictures, output },
    onElementHealth: health => {
      versionHealth.record({ name: health.plugin, ...health })
      if (health.failure !== undefined) reviewSwitch(health.plugin)
    },
    observeDetector: (request, client) => monitor.observe(request, client),
    tracer,
    costs,
    log,
  })
  onStop(stop)

  // The configuration decides which sources and pipelines run.
  const activation = await startActivation(context)
  const admission = createAdmission({
    cores: settings.capacity.cores ?? availableParallelism(),
    costs,
    findDemands: elements => catalog.estimateDemand(elements),
  })
  const configuration = createConfiguration({
    folder,
    secrets: loadSecrets(join(environment.data, 'secrets', 'engine-key')),
    roots: { media: environment.mediaRoots, output: environment.outputRoots },
    pacing: settings.pacing,
    catalog,
    runtime,
    tracer,
    checkCapacity: admission.check,
    log,
  })
  await configuration.start()

  // The remaining components only serve requests of the API.
  const plugins = createPlugins({
    store: pluginStore,
    createCatalogFor,
    configuration,
    quarantine,
    grants,
    deleteFiles,
    trust: pluginTrust,
    sandboxes,
    runtime,
    history: openSwitchHistory({ file: join(pluginFolder, 'switches.json'), log }),
    health: versionHealth,
    limits: { bytes: settings.plugin_unpacked_bytes, files: MAX_PLUGIN_FILES },
    log,
  })
  await plugins.completeSwitches()
  reviewSwitch = plugins.reviewSwitch
  onStop(plugins.stop)
  const models = createModels({
    ...runtimeModels,
    checkCapacity: findSelected =>
      admission.checkDemands(configuration.plan(), pipelineElements =>
        runtimeModels.estimateDemand(pipelineElements, findSelected),
      ),
    history: modelHistory,
    monitor,
    elements: pluginStore.elements,
    configuration,
    runtime,
    log,
  })
  onStop(models.stop)
  const meter = createSystemMeter()
  onStop(meter.stop)
  const snapshots = createChannelSnapshots({
    media,
    frameHistory,
    channelShapes: channel => findShapes(runtime.channelMetadata(channel)),
  })

  return {
    version: manifest.version,
    internalToken: environment.internalToken,
    activation,
    admission,
    cameras: createCameras(media),
    catalog,
    configuration,
    disk,
    isolation,
    runtime,
    meter,
    models,
    output,
    pictures,
    plugins,
    pluginTrust,
    sandboxes,
    snapshots,
    tracer,
  }
}

/** Starts the output, which stores the messages of the channels and sends them to clients. */
async function startOutput({ settings, folder, log, onStop }: StartContext) {
  const output = createOutput({
    folder: join(folder, 'output'),
    logBytes: settings.output_log_bytes,
    log,
  })
  await output.start()
  onStop(output.stop)
  return output
}

/** Opens the picture store, and starts the loading of event pictures from the media service. */
async function startPictures({ settings, folder, log, onStop }: StartContext, media: MediaAccess) {
  const pictures = createPictureStore(join(folder, 'pictures'), settings.picture_bytes)
  await pictures.open()
  const eventPictures = createEventPictures({
    loadPicture: createFramePictureLoader(media),
    store: pictures,
    intervalMs: settings.picture_interval_ms,
    log,
  })
  onStop(eventPictures.drain)
  return { pictures, eventPictures }
}

async function startActivation({ environment, settings, folder }: StartContext) {
  const activation = createActivation({
    folder,
    initial: environment.license,
    pool: settings.license_pool,
    now: () => new Date(),
  })
  await activation.start()
  return activation
}
