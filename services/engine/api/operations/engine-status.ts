import { hostname } from 'node:os'
import type { About, EngineCondition, EngineHealth } from '@eyrie/contract'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { roundToThousandths } from '../../statistics/round.ts'
import type { ApiContext } from './api-context.ts'

/**
 * Reads the health of the engine. It is healthy (`ok`) while its API responds; the other fields
 * help to find a fault. `isolation` describes the boundaries around the processes that run models,
 * and `plugin_isolation` describes the boundaries around plugins.
 */
export function readHealth(context: ApiContext): EngineHealth {
  const { activation, isolation, runtime, output, sandboxes } = context
  // Omitted here, because `listAlarms` includes the alarms of the output.
  const { alarms: _, ...outputStatus } = output.status()
  return {
    ok: true,
    alarms: listAlarms(context),
    media: runtime.streamServer() ? 'connected' : 'not connected',
    activated: activation.get().activated,
    isolation: isolation(),
    plugin_isolation: sandboxes.isolation,
    element_sdk: SDK_VERSION,
    channels: countChannels(context),
    output: outputStatus,
  }
}

/** Counts the channels by the status of their pipelines. */
function countChannels({
  configuration,
  runtime,
}: Pick<ApiContext, 'configuration' | 'runtime'>): EngineHealth['channels'] {
  const counts: EngineHealth['channels'] = {}
  for (const { pipeline } of configuration.channels()) {
    const { status } = runtime.pipelineStatistics(pipeline)
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

type AlarmSources = Pick<ApiContext, 'disk' | 'models' | 'output' | 'pictures' | 'plugins'>

/**
 * Lists the conditions that require action by an operator, because something is or will be lost.
 */
export function listAlarms({ disk, models, output, pictures, plugins }: AlarmSources): string[] {
  const pictureFailure = pictures.failure()
  return [
    ...disk.alarms(),
    ...output.status().alarms,
    ...(pictureFailure === undefined ? [] : [pictureFailure]),
    ...plugins.alarms(),
    ...models.alarms(),
  ]
}

/** Returns the versions of the engine, its API and its runtime. */
export function describeEngine({
  version,
  runtime,
}: Pick<ApiContext, 'version' | 'runtime'>): About {
  return {
    name: 'Eyrie',
    version,
    api_versions: ['v1', 'v2', 'v3'],
    node: process.version,
    gstreamer: runtime.streamServer()?.gstreamer ?? 'unknown: the media service is not connected',
    hostname: hostname(),
  }
}

/**
 * Reads how the engine works now: its license, disk and capacity, and the state and load of each
 * source. Omits what is unknown.
 */
export async function readCondition({
  activation,
  admission,
  configuration,
  disk,
  runtime,
}: ApiContext): Promise<EngineCondition> {
  const licenseUntil = activation.expiresAt()
  const space = await disk.measure()
  const outage = runtime.mediaOutage()
  const plan = configuration.plan()
  const used = roundToThousandths(admission.estimateLoad(plan).cores)

  const sources = runtime.sourceConditions().map(condition => {
    const load = admission.estimateSourceLoad(plan, condition.id)
    return load === undefined ? condition : { ...condition, load: roundToThousandths(load) }
  })

  return {
    time: new Date().toISOString(),
    ...(licenseUntil && { license_until: licenseUntil }),
    ...(space && { disk: { free_bytes: space.freeBytes, total_bytes: space.totalBytes } }),
    ...(outage && { outage }),
    capacity: { cores: admission.cores, used },
    sources,
  }
}
