import { modelName } from '@eyrie/contract/model'
import { type ModelSwitch, modelSwitch } from '@eyrie/contract/model-upgrade'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { openRecordFile } from '../upgrade/record-file.ts'

/** Maximum number of stored switches for each model. */
const MAX_SWITCHES = 50

/**
 * A recent switch that the engine watches: it switches back if the new model fails more than
 * the previous model did.
 */
const watch = z.strictObject({
  from: modelName,
  to: modelName,
  /** Time of the switch in epoch ms. */
  since: z.number(),
  /** How much the previous model had failed. */
  before: z.strictObject({ failures: z.number(), failedMs: z.number(), observedMs: z.number() }),
})
export type ModelWatch = z.infer<typeof watch>

const historyEntry = z.strictObject({
  /** The model that is selected now. */
  active: modelName,
  switches: z.array(modelSwitch),
  watch: watch.optional(),
})

/**
 * The switches between models. A switch selects the model that runs in place of the one that
 * pipelines name. The switches are stored in a file, and survive restarts of the engine.
 */
export interface ModelSwitchHistory {
  /** Returns the name of the model that was selected for the pipelines that name `model`. */
  findSelected(model: string): string
  /** Lists the models that were ever switched, by the name in pipelines. */
  listSwitched(): string[]
  /** Lists the switches of a model, oldest first. */
  list(model: string): ModelSwitch[]
  /** Returns the switch that the engine watches; undefined if it watches none of this model. */
  findWatch(model: string): ModelWatch | undefined
  /**
   * Stores a switch, and selects its model. Only this switch is watched from now on, or
   * none without `watch`.
   */
  add(model: string, entry: ModelSwitch, watch?: ModelWatch): Promise<void>
  endWatch(model: string): Promise<void>
}

export function openModelSwitchHistory({
  file,
  log,
}: {
  file: string
  log: Log
}): ModelSwitchHistory {
  const { find, entries, save } = openRecordFile({
    file,
    name: modelName,
    entry: historyEntry,
    failure: 'failed to read switches of models',
    log,
  })

  return {
    findSelected: model => find(model)?.active ?? model,
    listSwitched: () => entries().map(([model]) => model),
    list: model => find(model)?.switches ?? [],
    findWatch: model => find(model)?.watch,
    add: (model, entry, watch) => {
      const switches = [...(find(model)?.switches ?? []), entry].slice(-MAX_SWITCHES)
      return save(model, { active: entry.to, switches, ...(watch && { watch }) })
    },
    endWatch: async model => {
      const entry = find(model)
      if (entry?.watch) await save(model, { active: entry.active, switches: entry.switches })
    },
  }
}
