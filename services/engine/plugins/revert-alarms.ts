import { findActiveVersion, type InstalledPlugins } from './installed-plugins.ts'
import type { SwitchHistory } from './upgrade/switch-history.ts'

const ALARM_MS = 24 * 60 * 60_000

/**
 * Returns an alarm for each plugin that the engine has switched back within the last day, until
 * somebody switches it again.
 */
export function listReverts(
  history: Pick<SwitchHistory, 'list'>,
  installed: InstalledPlugins,
  now = Date.now(),
): string[] {
  const names = [...new Set(installed.plugins.map(({ name }) => name))]
  return names.flatMap(name => {
    const last = history.list(name).at(-1)
    if (last?.reason === undefined || Date.parse(last.time) < now - ALARM_MS) return []
    if (findActiveVersion(installed, name)?.version !== last.to) return []
    return [
      `plugin ${name} was switched back from version ${last.from} to ${last.to}: ${last.reason}. Correct the version, or use it nevertheless: eyrie plugin use ${name} ${last.from} --no-revert`,
    ]
  })
}
