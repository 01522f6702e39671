import type { PipelineStatus } from '@eyrie/contract'
import type { Core } from './api/core.ts'

/** Healthy as long as the API serves; the rest tells what a person would look at first. */
export function healthOf({ activation, configuration, runtime, output }: Core) {
  const channels: Partial<Record<PipelineStatus, number>> = {}
  for (const { pipeline } of configuration.channels()) {
    const { status } = runtime.pipelineStatistics(pipeline)
    channels[status] = (channels[status] ?? 0) + 1
  }
  const { alarms, ...rest } = output.status()
  return {
    ok: true,
    alarms,
    media: runtime.streamServer() ? 'connected' : 'not connected',
    activated: activation.get().activated,
    channels,
    output: rest,
  }
}
