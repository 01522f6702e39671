import type { Client } from '@eyrie/client'
import { EyrieError, type PipelineStatistics, type PipelineStatus } from '@eyrie/contract'
import { type Output, styled } from '../terminal.ts'

/** How pipelines are doing, by their ids; one that was deleted a moment ago is absent. */
export async function pipelineHealth(
  client: Client,
  ids: readonly number[],
): Promise<Map<number, PipelineStatistics>> {
  const asked = ids.map(async id => {
    try {
      return [[id, await client.pipelineStatistics(id)] as const]
    } catch (error) {
      if (error instanceof EyrieError && error.code === 'id') return []
      throw error
    }
  })
  return new Map((await Promise.all(asked)).flat())
}

const colours = {
  running: 'green',
  starting: 'yellow',
  degraded: 'yellow',
  failed: 'red',
  stopped: 'dim',
  idle: 'dim',
} as const satisfies Record<PipelineStatus, string>

/** Status, frames a second, latency and reason, as cells of a table. */
export function healthCells(
  out: Output,
  { status, fps, latency, reason = '' }: PipelineStatistics,
): string[] {
  return [styled(out, colours[status], status), fps.toFixed(1), `${Math.round(latency)} ms`, reason]
}
