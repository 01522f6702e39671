import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  type Dependencies,
  type Environment,
  lockFolder,
  readSettings,
  type Service,
  startTracer,
} from '@eyrie/kit'
import { shippedModels } from '@eyrie/model-store'
import { Hono } from 'hono'
import { createActivation } from './activation/activation.ts'
import { createAdmission } from './admission/admission.ts'
import { openCostStore } from './admission/cost-store.ts'
import { readHealth } from './api/engine-health.ts'
import type { ApiContext } from './api/operations/api-context.ts'
import { serveApi } from './api/serve-api.ts'
import { createCameras } from './cameras/cameras.ts'
import { createConfiguration } from './configuration/configuration.ts'
import { createFramePictureLoader } from './media/frame-picture.ts'
import { createOutput } from './output/output.ts'
import manifest from './package.json' with { type: 'json' }
import { createChannelSnapshots } from './pictures/channel-snapshots.ts'
import { findShapes } from './pictures/drawing.ts'
import { createEventPictures } from './pictures/event-pictures.ts'
import { createFrameHistory } from './pictures/frame-history.ts'
import { createPictureStore } from './pictures/picture-store.ts'
import { pluginFolders } from './plugins/plugin-folders.ts'
import { openPluginStore } from './plugins/plugin-store.ts'
import { createPlugins } from './plugins/plugins.ts'
import { startRuntime } from './runtime/start-runtime.ts'
import { createSystemMeter } from './statistics/system-meter.ts'

const MAX_PLUGIN_FILES = 5000

/** The engine: its configuration, the runtime that carries it out, the output and the API. */
export function createEngine({ environment, log }: Dependencies): Service {
  const app = new Hono()
  const folder = join(environment.data, 'engine')
  const tokens = acceptedTokens(environment)
  const stops: (() => unknown)[] = []
  let context: ApiContext | undefined

  return {
    app,
    ...(tokens.length === 0 && { host: '127.0.0.1' }),
    start: async () => {
      const settings = readSettings(environment.data).engine
      stops.push(await lockFolder(folder))
      const tracer = await startTracer(environment.tracing, 'engine', log)
      stops.push(tracer.shutdown)

      const output = createOutput({
        folder: join(folder, 'output'),
        logBytes: settings.output_log_bytes,
        log,
      })
      await output.start()
      stops.push(output.stop)

      const media = { url: environment.urls.media, token: environment.internalToken }
      const pictures = createPictureStore(join(folder, 'pictures'), settings.picture_bytes)
      await pictures.open()
      const eventPictures = createEventPictures({
        loadPicture: createFramePictureLoader(media),
        store: pictures,
        intervalMs: settings.picture_interval_ms,
        now: () => performance.now(),
        log,
      })
      stops.push(eventPictures.drain)
      const frameHistory = createFrameHistory(channel =>
        configuration.channels().some(({ id }) => id === channel),
      )

      const { costs, stop: stopCostStore } = await openCostStore(join(folder, 'costs.json'), log)
      stops.push(stopCostStore)

      const pluginStore = openPluginStore({
        folder: join(environment.data, 'plugins'),
        besides: pluginFolders(environment.plugins),
        log,
      })
      const {
        runtime,
        catalog,
        createCatalogFor,
        stop: stopRuntime,
      } = await startRuntime({
        mediaUrl: environment.urls.media,
        internalToken: environment.internalToken,
        ring: environment.ring,
        elements: pluginStore.elements,
        modelFolders: [join(environment.data, 'models'), shippedModels],
        inferenceWorkers: settings.inference_workers,
        publishing: { frameHistory, eventPictures, output },
        tracer,
        costs,
        log,
      })
      stops.push(stopRuntime)

      const activation = createActivation({
        folder,
        initial: environment.license,
        pool: settings.license_pool,
        now: () => new Date(),
      })
      await activation.start()

      const admission = createAdmission({
        cores: settings.capacity.cores ?? availableParallelism(),
        costs,
        findDemands: elements => catalog.demandOf(elements),
      })

      const configuration = createConfiguration({
        folder,
        roots: { media: environment.mediaRoots, output: environment.outputRoots },
        pacing: settings.pacing,
        catalog,
        runtime,
        tracer,
        admit: admission.check,
        log,
      })
      await configuration.start()

      const plugins = createPlugins({
        store: pluginStore,
        catalogOf: createCatalogFor,
        configuration,
        limits: { bytes: settings.plugin_unpacked_bytes, files: MAX_PLUGIN_FILES },
      })
      stops.push(plugins.stop)

      const meter = createSystemMeter()
      stops.push(meter.stop)

      context = {
        version: manifest.version,
        internalToken: environment.internalToken,
        activation,
        cameras: createCameras(media),
        admission,
        catalog,
        configuration,
        runtime,
        meter,
        output,
        pictures,
        plugins,
        snapshots: createChannelSnapshots({
          media,
          frameHistory,
          channelShapes: channel => findShapes(runtime.channelMetadata(channel)),
        }),
        tracer,
      }
      serveApi(app, context, { tokens, packageBytes: settings.plugin_package_bytes, log })
    },
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop()
    },
    health: () => (context ? readHealth(context) : { ok: false, reason: 'the engine is starting' }),
  }
}

/** The API is open on loopback only if there are no tokens; otherwise the internal token of the services is accepted too. */
function acceptedTokens({ engineTokens, internalToken }: Environment): string[] {
  return engineTokens.length > 0 && internalToken ? [...engineTokens, internalToken] : engineTokens
}
