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
import { shippedModels } from '@eyrie/model-store/shipped'
import { Hono } from 'hono'
import { createActivation } from './activation/activation.ts'
import { createAdmission } from './admission/admission.ts'
import { keepCosts } from './admission/costs-file.ts'
import type { Core } from './api/core.ts'
import { serveApi } from './api/serve.ts'
import { createCameras } from './cameras/cameras.ts'
import { createConfiguration } from './configuration/configuration.ts'
import { shapesOf } from './graph/shapes.ts'
import { healthOf } from './health.ts'
import { createOutput } from './output/output.ts'
import manifest from './package.json' with { type: 'json' }
import { createIllustrator } from './pictures/illustrator.ts'
import { snapshotsOf } from './pictures/snapshot.ts'
import { createPictureStore } from './pictures/store.ts'
import { pluginFolders } from './plugins/folders.ts'
import { createPlugins } from './plugins/plugins.ts'
import { openPluginStore } from './plugins/store.ts'
import { createRuntime } from './runtime.ts'
import { rememberFrames } from './snapshots/seen-frames.ts'
import { createChannelSnapshots } from './snapshots/snapshots.ts'
import { createSystemMeter } from './statistics/system.ts'

const MOST_PLUGIN_FILES = 5000

/** The engine: what is configured, what runs of it, and what comes out. */
export function createEngine({ environment, log }: Dependencies): Service {
  const app = new Hono()
  const folder = join(environment.data, 'engine')
  const tokens = acceptedTokens(environment)
  const stops: (() => unknown)[] = []
  let core: Core | undefined

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

      const pictures = createPictureStore(join(folder, 'pictures'), settings.picture_bytes)
      await pictures.open()
      const media = { url: environment.urls.media, token: environment.internalToken }
      const illustrator = createIllustrator({
        publisher: output,
        snapshot: snapshotsOf(media),
        store: pictures,
        intervalMs: settings.picture_interval_ms,
        now: () => performance.now(),
        log,
      })
      stops.push(illustrator.settled)

      const seen = rememberFrames(illustrator, channel =>
        configuration.channels().some(({ id }) => id === channel),
      )

      const { costs, stop: keep } = await keepCosts(join(folder, 'costs.json'), log)
      stops.push(keep)

      const store = openPluginStore({
        folder: join(environment.data, 'plugins'),
        besides: pluginFolders(environment.plugins),
        log,
      })
      const { runtime, catalog, catalogOf, stop } = await createRuntime({
        mediaUrl: environment.urls.media,
        internalToken: environment.internalToken,
        ring: environment.ring,
        elements: store.elements,
        modelFolders: [join(environment.data, 'models'), shippedModels],
        inferenceWorkers: settings.inference_workers,
        publisher: seen,
        tracer,
        costs,
        log,
      })
      stops.push(stop)

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
        demandOf: elements => catalog.demandOf(elements),
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
        store,
        catalogOf,
        configuration,
        limits: { bytes: settings.plugin_unpacked_bytes, files: MOST_PLUGIN_FILES },
      })
      stops.push(plugins.stop)

      const meter = createSystemMeter()
      stops.push(meter.stop)

      core = {
        version: manifest.version,
        internalToken: environment.internalToken,
        activation,
        cameras: createCameras({ url: environment.urls.media, token: environment.internalToken }),
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
          seen,
          shapesOf: channel => shapesOf(runtime.channelMetadata(channel)),
        }),
        tracer,
      }
      serveApi(app, core, { tokens, packageBytes: settings.plugin_package_bytes, log })
    },
    stop: async () => {
      for (const stop of stops.splice(0).reverse()) await stop()
    },
    health: () => (core ? healthOf(core) : { ok: false, reason: 'the engine is starting' }),
  }
}

/** None: the API is open to the loopback alone. The other services may come with the token that they share. */
function acceptedTokens({ engineTokens, internalToken }: Environment): string[] {
  return engineTokens.length > 0 && internalToken ? [...engineTokens, internalToken] : engineTokens
}
