import { hostname } from 'node:os'
import type { About, EngineHealth } from '@eyrie/contract'
import type { ApiContext } from './api-context.ts'

/** The engine is healthy (`ok`) while its API answers; the other fields help an operator to find a fault. */
export function readHealth({
  activation,
  configuration,
  runtime,
  output,
  pictures,
}: ApiContext): EngineHealth {
  const channels: EngineHealth['channels'] = {}
  for (const { pipeline } of configuration.channels()) {
    const { status } = runtime.pipelineStatistics(pipeline)
    channels[status] = (channels[status] ?? 0) + 1
  }
  const { alarms: _, ...outputStatus } = output.status()
  return {
    ok: true,
    alarms: listAlarms({ output, pictures }),
    media: runtime.streamServer() ? 'connected' : 'not connected',
    activated: activation.get().activated,
    channels,
    output: outputStatus,
  }
}

/** Conditions under which messages or pictures are lost until an operator acts. */
export function listAlarms({ output, pictures }: Pick<ApiContext, 'output' | 'pictures'>): string[] {
  const pictureFailure = pictures.failure()
  return [...output.status().alarms, ...(pictureFailure ? [pictureFailure] : [])]
}

export function describeEngine({ version, runtime }: Pick<ApiContext, 'version' | 'runtime'>): About {
  return {
    name: 'Eyrie',
    version,
    api_versions: ['v1', 'v2', 'v3'],
    node: process.version,
    gstreamer: runtime.streamServer()?.gstreamer ?? 'unknown: media is not connected',
    hostname: hostname(),
  }
}
