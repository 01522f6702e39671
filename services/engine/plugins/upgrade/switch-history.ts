import { pipelineElement } from '@eyrie/contract/pipeline'
import { pluginName } from '@eyrie/contract/plugin'
import { type VersionSwitch, versionSwitch } from '@eyrie/contract/plugin-upgrade'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { openRecordFile } from '../../upgrade/record-file.ts'

const MAX_SWITCHES = 50

/** The elements of a pipeline before and after a switch. */
const changedPipeline = z.strictObject({
  id: z.int(),
  before: z.array(pipelineElement),
  after: z.array(pipelineElement),
})
export type ChangedPipeline = z.infer<typeof changedPipeline>

/** A switch that the engine reverts if the new version fails more than the one before. */
const watch = z.strictObject({
  from: z.string(),
  to: z.string(),
  /** Time of the switch in ms. */
  since: z.number(),
  before: z.strictObject({ failures: z.number(), failedMs: z.number(), observedMs: z.number() }),
  pipelines: z.array(changedPipeline),
})
export type SwitchWatch = z.infer<typeof watch>

/** A switch that changes pipelines, before both are stored. */
const unfinishedSwitch = z.strictObject({ to: z.string(), pipelines: z.array(changedPipeline) })
export type UnfinishedSwitch = z.infer<typeof unfinishedSwitch>

const historyEntry = z.strictObject({
  switches: z.array(versionSwitch),
  watch: watch.optional(),
  unfinished: unfinishedSwitch.optional(),
})

/** The switches of the active versions of plugins, and which of them are watched. */
export interface SwitchHistory {
  /** Lists the switches of a plugin, oldest first. */
  list(plugin: string): VersionSwitch[]
  /** Returns the watched switch of a plugin. */
  findWatch(plugin: string): SwitchWatch | undefined
  /** Stores that a switch begins, so that it can be completed if the engine ends before `add`. */
  begin(plugin: string, unfinished: UnfinishedSwitch): Promise<void>
  /** Lists the switches that have begun and were not added, by plugin. */
  listUnfinished(): [plugin: string, unfinished: UnfinishedSwitch][]
  endUnfinished(plugin: string): Promise<void>
  /** Adds a switch, and watches it from now on, or nothing. */
  add(plugin: string, entry: VersionSwitch, watch?: SwitchWatch): Promise<void>
  endWatch(plugin: string): Promise<void>
}

/** Opens the history. */
export function openSwitchHistory({ file, log }: { file: string; log: Log }): SwitchHistory {
  const { find, entries, save } = openRecordFile({
    file,
    name: pluginName,
    entry: historyEntry,
    failure: 'failed to read switches of plugin versions',
    log,
  })

  return {
    list: plugin => find(plugin)?.switches ?? [],
    findWatch: plugin => find(plugin)?.watch,
    begin: (plugin, unfinished) => save(plugin, { switches: [], ...find(plugin), unfinished }),
    listUnfinished: () =>
      entries().flatMap(([plugin, { unfinished }]) =>
        unfinished ? [[plugin, unfinished] as [string, UnfinishedSwitch]] : [],
      ),
    endUnfinished: plugin => {
      const { unfinished, ...entry } = find(plugin) ?? { switches: [] }
      return save(plugin, entry)
    },
    add: (plugin, entry, watch) => {
      const switches = [...(find(plugin)?.switches ?? []), entry].slice(-MAX_SWITCHES)
      return save(plugin, { switches, ...(watch && { watch }) })
    },
    endWatch: async plugin => {
      const entry = find(plugin)
      if (entry?.watch) await save(plugin, { switches: entry.switches })
    },
  }
}
