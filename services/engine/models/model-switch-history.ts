import { modelName } from '@eyrie/contract/model'
import { type ModelSwitch, modelSwitch } from '@eyrie/contract/model-upgrade'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { openRecordFile } from '../upgrade/record-file.ts'

/** Maximum number of switches that are stored of a model. */
const MAX_SWITCHES = 50

/** A switch that the engine reverts if the new model fails more than the one before. */
const watch = z.strictObject({
  from: modelName,
  to: modelName,
  /** Time of the switch in epoch ms. */
  since: z.number(),
  /** How much the model before had failed. */
  before: z.strictObject({ failures: z.number(), failedMs: z.number(), observedMs: z.number() }),
})
export type ModelWatch = z.infer<typeof watch>

const historyEntry = z.strictObject({
  /** The model that was selected last. */
  active: modelName,
  switches: z.array(modelSwitch),
  watch: watch.optional(),
})

/** Which models were selected to run in place of the ones that pipelines name, and when. Stored in a file. */
export interface ModelSwitchHistory {
  /** Returns the name of the model that was selected for the pipelines that name `model`. */
  findSelected(model: string): string
  /** Lists the models in whose place another one was ever selected. */
  listSwitched(): string[]
  /** Lists the switches of a model, oldest first. */
  list(model: string): ModelSwitch[]
  /** Returns the watched switch of a model. */
  findWatch(model: string): ModelWatch | undefined
  /** Stores a switch, which selects its model. Replaces the watched switch by `watch`, or by none. */
  add(model: string, entry: ModelSwitch, watch?: ModelWatch): Promise<void>
  endWatch(model: string): Promise<void>
}

export function openModelSwitchHistory({ file, log }: { file: string; log: Log }): ModelSwitchHistory {
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
