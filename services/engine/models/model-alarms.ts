import type { ModelSwitch } from '@eyrie/contract/model-upgrade'
import type { ModelStore } from '@eyrie/model-store'
import type { ModelSwitchHistory } from './model-switch-history.ts'

const ALARM_MS = 24 * 60 * 60_000

/**
 * Returns an alarm for each model that the engine has switched back within the last day, and for
 * each that is missing.
 */
export function listModelAlarms(
  history: Pick<ModelSwitchHistory, 'findSelected' | 'listSwitched' | 'list'>,
  store: Pick<ModelStore, 'get'>,
  now = Date.now(),
): string[] {
  const names = history.listSwitched()
  return [
    ...names.flatMap(name => listMissing(name, history.findSelected(name), store)),
    ...names.flatMap(name => listReverts(name, history.list(name).at(-1), now)),
  ]
}

function listReverts(name: string, last: ModelSwitch | undefined, now: number): string[] {
  if (last?.reason === undefined || Date.parse(last.time) < now - ALARM_MS) return []
  return [
    `model ${name} was switched back from ${last.from} to ${last.to}: ${last.reason}. Correct the model, or use it nevertheless: eyrie model use ${name} ${last.from} --no-revert`,
  ]
}

function listMissing(name: string, selected: string, store: Pick<ModelStore, 'get'>): string[] {
  if (selected === name || store.get(selected) || !store.get(name)) return []
  return [
    `model ${selected}, which was selected in place of ${name}, is missing, so that ${name} runs itself: add it again, or confirm with eyrie model use ${name} ${name}`,
  ]
}
