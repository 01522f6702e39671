import type { EngineHealth } from '@eyrie/contract'
import type { ApiContext } from './operations/api-context.ts'

/** The engine is healthy as long as its API answers; the other fields show an operator where to look first. */
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
  const { alarms: _, ...rest } = output.status()
  return {
    ok: true,
    alarms: listAlarms({ output, pictures }),
    media: runtime.streamServer() ? 'connected' : 'not connected',
    activated: activation.get().activated,
    channels,
    output: rest,
  }
}

/** Conditions under which messages or pictures are lost until an operator acts. */
export function listAlarms({ output, pictures }: Pick<ApiContext, 'output' | 'pictures'>): string[] {
  const failure = pictures.failure()
  return [...output.status().alarms, ...(failure ? [failure] : [])]
}
