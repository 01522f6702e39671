import type { EngineHealth } from '@eyrie/contract'
import type { Core } from './api/core.ts'

/** Healthy as long as the API serves; the rest tells what a person would look at first. */
export function healthOf({ activation, configuration, runtime, output, pictures }: Core): EngineHealth {
  const channels: EngineHealth['channels'] = {}
  for (const { pipeline } of configuration.channels()) {
    const { status } = runtime.pipelineStatistics(pipeline)
    channels[status] = (channels[status] ?? 0) + 1
  }
  const { alarms: _, ...rest } = output.status()
  return {
    ok: true,
    alarms: alarmsOf({ output, pictures }),
    media: runtime.streamServer() ? 'connected' : 'not connected',
    activated: activation.get().activated,
    channels,
    output: rest,
  }
}

/** What a person has to do something about, or messages or pictures are lost. */
export function alarmsOf({ output, pictures }: Pick<Core, 'output' | 'pictures'>): string[] {
  const failure = pictures.failure()
  return [...output.status().alarms, ...(failure ? [failure] : [])]
}
