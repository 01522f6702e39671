import { availableParallelism, cpus } from 'node:os'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { Mutex } from 'async-mutex'
import { z } from 'zod'
import { type Costs, type CostTable, createCosts } from './costs.ts'

const SAVE_INTERVAL_MS = 30_000

/**
 * The file in which the measured costs survive restarts of the engine: the CPU time that decoding,
 * inference and elements use for a frame. The engine predicts from them whether the machine has the
 * capacity for more channels.
 */
const fileContent = z.strictObject({
  version: z.literal(1),
  /**
   * Processor of the machine on which the costs were measured, such as `Intel(R) Core(TM) i7 x 8`.
   */
  machine: z.string(),
  costs: z.record(
    z.string(),
    z.record(z.string(), z.strictObject({ mean: z.number().min(0), count: z.int().min(1) })),
  ),
})

/** The measured costs, which are saved periodically. */
export interface CostStore {
  costs: Costs
  /** Saves the latest measurements and stops saving. */
  stop(): Promise<void>
}

/**
 * Loads the measured costs of earlier runs from `file`, and saves new measurements periodically. A
 * file that is damaged or was written on another machine is ignored and replaced.
 */
export async function openCostStore(
  file: string,
  log: Log,
  machine = describeMachine(),
): Promise<CostStore> {
  const costs = createCosts(readCosts(file, machine, log))
  const saveMutex = new Mutex()
  let savedRevision = costs.revision

  const saveIfChanged = async () => {
    if (costs.revision === savedRevision) return
    savedRevision = costs.revision

    const content: z.infer<typeof fileContent> = { version: 1, machine, costs: costs.toTable() }
    await writeDurably(file, `${JSON.stringify(content)}\n`).catch(error =>
      log.warn({ err: error, file }, 'failed to save measured costs'),
    )
  }

  const timer = setInterval(() => void saveMutex.runExclusive(saveIfChanged), SAVE_INTERVAL_MS)
  timer.unref()

  return {
    costs,
    stop: async () => {
      clearInterval(timer)
      await saveMutex.runExclusive(saveIfChanged)
    },
  }
}

function readCosts(file: string, machine: string, log: Log): CostTable | undefined {
  try {
    const content = readJsonFile(file, fileContent)
    return content?.machine === machine ? content.costs : undefined
  } catch (error) {
    log.warn({ file, reason: (error as Error).message }, 'failed to read measured costs')
    return undefined
  }
}

const describeMachine = () => `${cpus()[0]?.model ?? 'unknown'} x ${availableParallelism()}`
