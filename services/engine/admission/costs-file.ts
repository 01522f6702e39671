import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { type Costs, type CostTable, createCosts } from './costs.ts'

const content = z.strictObject({
  version: z.literal(1),
  machine: z.string(),
  costs: z.record(
    z.string(),
    z.record(z.string(), z.strictObject({ mean: z.number().min(0), count: z.int().min(1) })),
  ),
})

const SAVE_MS = 30_000

export interface SavedCosts {
  costs: Costs
  /** Resolves when all that was measured is on disk. */
  stop(): Promise<void>
}

/**
 * The costs of earlier runs from `file`, which is kept up to date. What was measured on another machine says nothing
 * about this one; nor does a file that is damaged, and neither keeps the engine from starting.
 */
export async function openCosts(file: string, log: Log, machine = thisMachine()): Promise<SavedCosts> {
  const costs = createCosts(await read(file, machine, log))
  let saved = costs.revision
  const save = async () => {
    if (costs.revision === saved) return
    saved = costs.revision
    const text = JSON.stringify({ version: 1, machine, costs: costs.table() } satisfies z.infer<
      typeof content
    >)
    await writeDurably(file, `${text}\n`).catch(error =>
      log.warn({ err: error, file }, 'what frames cost cannot be kept'),
    )
  }
  let saving = Promise.resolve()
  const timer = setInterval(() => {
    saving = saving.then(save)
  }, SAVE_MS)
  timer.unref()
  return {
    costs,
    stop: async () => {
      clearInterval(timer)
      await saving
      await save()
    },
  }
}

async function read(file: string, machine: string, log: Log): Promise<CostTable | undefined> {
  try {
    const kept = content.parse(JSON.parse(await readFile(file, 'utf8')))
    return kept.machine === machine ? kept.costs : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn(
        { file, reason: (error as Error).message },
        'the file of costs is not readable; measuring anew',
      )
    return undefined
  }
}

const thisMachine = () => `${cpus()[0]?.model ?? 'unknown'} x ${availableParallelism()}`
