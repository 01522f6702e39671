import { readFileSync } from 'node:fs'
import { parseAs } from '@eyrie/contract/parse'
import { pipelineElement } from '@eyrie/contract/pipeline'
import { pluginName } from '@eyrie/contract/plugin'
import { type VersionSwitch, versionSwitch } from '@eyrie/contract/plugin-upgrade'
import { writeDurably } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

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

const historyFile = z.record(
  pluginName,
  z.strictObject({
    switches: z.array(versionSwitch),
    watch: watch.optional(),
    unfinished: unfinishedSwitch.optional(),
  }),
)
type History = z.infer<typeof historyFile>

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

/** Opens the history. A damaged file is ignored, so that the engine can start. */
export function openSwitchHistory({ file, log }: { file: string; log: Log }): SwitchHistory {
  let history = readHistory(file, log)

  const find = (plugin: string) => (Object.hasOwn(history, plugin) ? history[plugin] : undefined)

  async function save(plugin: string, entry: History[string]): Promise<void> {
    history = { ...history, [plugin]: entry }
    await writeDurably(file, `${JSON.stringify(history, null, 2)}\n`)
  }

  return {
    list: plugin => find(plugin)?.switches ?? [],
    findWatch: plugin => find(plugin)?.watch,
    begin: (plugin, unfinished) => save(plugin, { switches: [], ...find(plugin), unfinished }),
    listUnfinished: () =>
      Object.entries(history).flatMap(([plugin, { unfinished }]) =>
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

function readHistory(file: string, log: Log): History {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return {}
  }
  try {
    return parseAs(historyFile, JSON.parse(text))
  } catch (error) {
    log.error({ file, reason: (error as Error).message }, 'failed to read switches of plugin versions')
    return {}
  }
}
