import { pipelineElement } from '@eyrie/contract/pipeline'
import { pluginName } from '@eyrie/contract/plugin'
import { type VersionSwitch, versionSwitch } from '@eyrie/contract/plugin-upgrade'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'
import { openRecordFile } from '../../upgrade/record-file.ts'

/** Maximum number of stored switches for each plugin. */
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
  /** Time of the switch in epoch ms. */
  since: z.number(),
  /** How much the version before had failed. */
  before: z.strictObject({ failures: z.number(), failedMs: z.number(), observedMs: z.number() }),
  pipelines: z.array(changedPipeline),
})
export type SwitchWatch = z.infer<typeof watch>

/**
 * A switch that has begun. It changes the active version and pipelines, which are in two files: if the engine ends in
 * between, it changes the pipelines at the next start.
 */
const unfinishedSwitch = z.strictObject({ to: z.string(), pipelines: z.array(changedPipeline) })
export type UnfinishedSwitch = z.infer<typeof unfinishedSwitch>

const historyEntry = z.strictObject({
  switches: z.array(versionSwitch),
  watch: watch.optional(),
  unfinished: unfinishedSwitch.optional(),
})

/** The switches between versions of plugins, and which of them are watched. Stored in a file. */
export interface SwitchHistory {
  /** Lists the switches of a plugin, oldest first. */
  list(plugin: string): VersionSwitch[]
  /** Returns the watched switch of a plugin. */
  findWatch(plugin: string): SwitchWatch | undefined
  /** Stores that a switch begins. `add` or `endUnfinished` must follow. */
  begin(plugin: string, unfinished: UnfinishedSwitch): Promise<void>
  /** Lists the switches that have begun and not ended, by plugin. */
  listUnfinished(): [plugin: string, unfinished: UnfinishedSwitch][]
  endUnfinished(plugin: string): Promise<void>
  /** Stores a switch, which ends one that has begun. Replaces the watched switch by `watch`, or by none. */
  add(plugin: string, entry: VersionSwitch, watch?: SwitchWatch): Promise<void>
  endWatch(plugin: string): Promise<void>
}

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
    listUnfinished: () => {
      const unfinishedSwitches: [string, UnfinishedSwitch][] = []
      for (const [plugin, { unfinished }] of entries())
        if (unfinished) unfinishedSwitches.push([plugin, unfinished])
      return unfinishedSwitches
    },
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
