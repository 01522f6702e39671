import type { Client } from '@eyrie/client'
import { EyrieError, type PipelineStatistics, type PipelineStatus } from '@eyrie/contract'
import { type Output, styled } from '../command/terminal.ts'

/** Reads the statistics of pipelines by id. Pipelines deleted in the meantime are omitted. */
export async function readPipelineHealth(
  client: Client,
  ids: readonly number[],
): Promise<Map<number, PipelineStatistics>> {
  const entries = ids.map(async id => {
    try {
      return [[id, await client.pipelineStatistics(id)] as const]
    } catch (error) {
      if (error instanceof EyrieError && error.code === 'id') return []
      throw error
    }
  })
  return new Map((await Promise.all(entries)).flat())
}

const statusColours = {
  running: 'green',
  starting: 'yellow',
  degraded: 'yellow',
  failed: 'red',
  stopped: 'dim',
  idle: 'dim',
} as const satisfies Record<PipelineStatus, string>

/** Formats status, frames per second, latency and reason as cells of a table. */
export function formatHealthCells(
  out: Output,
  { status, fps, latency, reason = '' }: PipelineStatistics,
): [status: string, fps: string, latency: string, reason: string] {
  return [styled(out, statusColours[status], status), fps.toFixed(1), `${Math.round(latency)} ms`, reason]
}
