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

/**
 * A recent switch that the engine watches: it switches back if the new version fails more than the
 * previous version did.
 */
const watch = z.strictObject({
  from: z.string(),
  to: z.string(),
  /** Time of the switch in epoch ms. */
  since: z.number(),
  /** How much the previous version had failed. */
  before: z.strictObject({ failures: z.number(), failedMs: z.number(), observedMs: z.number() }),
  /** The pipelines that the switch has changed, which are restored together with the version. */
  pipelines: z.array(changedPipeline),
})
export type SwitchWatch = z.infer<typeof watch>

/**
 * A switch that has begun and not ended. A switch changes two files: the active versions, and the
 * pipelines in the configuration. If the engine ends after it has written the first file, it
 * changes the pipelines at the next start.
 */
const unfinishedSwitch = z.strictObject({ to: z.string(), pipelines: z.array(changedPipeline) })
export type UnfinishedSwitch = z.infer<typeof unfinishedSwitch>

const historyEntry = z.strictObject({
  switches: z.array(versionSwitch),
  watch: watch.optional(),
  unfinished: unfinishedSwitch.optional(),
})

/**
 * The switches between versions of plugins. They are stored in a file, and survive
 * restarts of the engine.
 */
export interface SwitchHistory {
  /** Lists the switches of a plugin, oldest first. */
  list(plugin: string): VersionSwitch[]
  /** Returns the switch that the engine watches; undefined if it watches none of this plugin. */
  findWatch(plugin: string): SwitchWatch | undefined
  /**
   * Stores that a switch begins. The caller must end it with `add`, or with `endUnfinished`
   * if the switch fails.
   */
  begin(plugin: string, unfinished: UnfinishedSwitch): Promise<void>
  /** Returns the switch of a plugin that has begun and not ended; undefined if there is none. */
  findUnfinished(plugin: string): UnfinishedSwitch | undefined
  /** Lists the switches that have begun and not ended, by plugin. */
  listUnfinished(): [plugin: string, unfinished: UnfinishedSwitch][]
  endUnfinished(plugin: string): Promise<void>
  /**
   * Stores a completed switch. Only this switch is watched from now on, or none without `watch`.
   */
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
    findUnfinished: plugin => find(plugin)?.unfinished,
    listUnfinished: () => {
      const unfinishedSwitches: [string, UnfinishedSwitch][] = []
      for (const [plugin, { unfinished }] of entries()) {
        if (unfinished) unfinishedSwitches.push([plugin, unfinished])
      }
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
