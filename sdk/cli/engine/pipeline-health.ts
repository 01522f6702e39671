import type { Client } from '@eyrie/client'
import {
  EyrieError,
  type Pipeline,
  type PipelineStatistics,
  type PipelineStatus,
} from '@eyrie/contract'
import { type Output, styled } from '../command/terminal.ts'

/**
 * Reads the statistics of pipelines, by id. Pipelines that have been deleted in the
 * meantime are omitted.
 */
export async function readPipelineHealth(
  client: Client,
  pipelines: readonly Pick<Pipeline, 'id'>[],
): Promise<Map<number, PipelineStatistics>> {
  const health = new Map<number, PipelineStatistics>()
  await Promise.all(
    pipelines.map(async ({ id }) => {
      try {
        health.set(id, await client.pipelineStatistics(id))
      } catch (error) {
        // The code `id` means that there is no pipeline with this id.
        const isDeleted = error instanceof EyrieError && error.code === 'id'
        if (!isDeleted) throw error
      }
    }),
  )
  return health
}

const STATUS_COLOURS = {
  running: 'green',
  starting: 'yellow',
  degraded: 'yellow',
  failed: 'red',
  stopped: 'dim',
  idle: 'dim',
} as const satisfies Record<PipelineStatus, string>

/** Formats the health of a pipeline as the cells of a table row, which several commands print. */
export function formatHealthCells(
  out: Output,
  { status, fps, latency, reason = '' }: PipelineStatistics,
): [status: string, fps: string, latency: string, reason: string] {
  const colouredStatus = styled(out, STATUS_COLOURS[status], status)
  return [colouredStatus, fps.toFixed(1), `${Math.round(latency)} ms`, reason]
}
