import { type QuarantinedPlugin, quarantinedPlugin } from '@eyrie/contract/plugin'
import { readJsonFile, writeJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import { z } from 'zod'

/** A plugin is put in quarantine at the third crash within a minute. */
const MAX_CRASHES = 3
const CRASH_WINDOW_MS = 60_000

/** A version of a plugin on one channel. */
export type PluginOnChannel = Pick<QuarantinedPlugin, 'plugin' | 'version' | 'channel'>

/**
 * Counts the crashes of plugins. A version that crashes repeatedly on a channel is in quarantine
 * there, until a person releases it; other channels continue to use it. Quarantines survive
 * restarts of the engine.
 */
export interface PluginQuarantine {
  list(): readonly QuarantinedPlugin[]
  find(plugin: PluginOnChannel): QuarantinedPlugin | undefined
  /** Counts a crash. Returns whether the plugin is in quarantine because of it. */
  addCrash(plugin: PluginOnChannel, reason: string): boolean
  /**
   * Ends the quarantines of all versions of a plugin, or of one version. Returns the
   * quarantines that have ended. Throws an `Error`, and ends none, if this cannot be stored.
   */
  release(plugin: string, version?: string): QuarantinedPlugin[]
}

export interface PluginQuarantineOptions {
  /** File that contains the quarantines. */
  file: string
  log: Pick<Log, 'error'>
  now?: () => Date
}

/** Opens the quarantine. A damaged file is logged and ignored, so that the engine can start. */
export function openPluginQuarantine({
  file,
  log,
  now = () => new Date(),
}: PluginQuarantineOptions): PluginQuarantine {
  let entries = readEntries(file, log)
  /** Times of the crashes within the last minute, in epoch ms, by `toKey`. */
  const recentCrashes = new Map<string, number[]>()

  /** Adds a quarantine. It applies even if it cannot be stored, such as on a full disk. */
  function add(entry: QuarantinedPlugin): void {
    entries = [...entries, entry]
    try {
      writeJsonFile(file, entries)
    } catch (error) {
      const reason = (error as Error).message
      log.error({ file, reason }, 'failed to store a quarantine, which ends with the engine')
    }
  }

  /** Adds a crash, and returns how many there were within the last minute. */
  function countCrash(crashed: PluginOnChannel, time: Date): number {
    const key = toKey(crashed)
    const crashes = [...(recentCrashes.get(key) ?? []), time.getTime()]
    const recent = crashes.filter(crashMs => time.getTime() - crashMs < CRASH_WINDOW_MS)
    recentCrashes.set(key, recent)
    return recent.length
  }

  const find = (plugin: PluginOnChannel) => entries.find(entry => toKey(entry) === toKey(plugin))

  return {
    list: () => entries,
    find,
    addCrash(crashed, reason) {
      const time = now()
      if (countCrash(crashed, time) < MAX_CRASHES) return false

      recentCrashes.delete(toKey(crashed))
      const { plugin, version, channel } = crashed
      const entry = { plugin, version, channel, reason, time: time.toISOString() }
      if (!find(crashed)) add(entry)
      return true
    },
    release: (plugin, version) => {
      const isReleased = (entry: QuarantinedPlugin) =>
        entry.plugin === plugin && (version === undefined || entry.version === version)
      const released = entries.filter(isReleased)
      if (released.length === 0) return []
      const remaining = entries.filter(entry => !isReleased(entry))
      writeJsonFile(file, remaining)
      entries = remaining
      return released
    },
  }
}

const toKey = ({ plugin, version, channel }: PluginOnChannel) => `${plugin} ${version} ${channel}`

function readEntries(file: string, log: Pick<Log, 'error'>): readonly QuarantinedPlugin[] {
  try {
    return readJsonFile(file, z.array(quarantinedPlugin)) ?? []
  } catch (error) {
    const reason = (error as Error).message
    log.error({ file, reason }, 'failed to read the quarantines, which have thus ended')
    return []
  }
}
