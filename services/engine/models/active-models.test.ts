import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import type { StoredModel } from '@eyrie/model-store'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createActiveModels } from './active-models.ts'
import { listModelAlarms } from './model-alarms.ts'
import { openModelSwitchHistory } from './model-switch-history.ts'

const stored = (name: string) => ({ card: { name }, folder: name, file: name }) as StoredModel

function createStore(...names: string[]) {
  const models = names.map(stored)
  return {
    list: () => models,
    get: (name: string) => models.find(({ card }) => card.name === name),
    onChange: () => () => true,
  }
}

const nameOf = (model: StoredModel | undefined) => model?.card.name

describe('active models', () => {
  it('are the selected ones, under the names in pipelines', () => {
    const store = createStore('door', 'door-2')
    const active = createActiveModels(store, name => (name === 'door' ? 'door-2' : name))
    expect(['door', 'door-2', 'window'].map(name => nameOf(active.get(name)))).toEqual([
      'door-2',
      'door-2',
      undefined,
    ])
  })

  it('are the named ones while the selected ones are missing, which is an alarm', () => {
    const store = createStore('door')
    const history = { findSelected: () => 'door-2', listSwitched: () => ['door'], list: () => [] }
    expect(nameOf(createActiveModels(store, history.findSelected).get('door'))).toBe('door')
    expect(listModelAlarms(history, store)).toEqual([
      'model door-2, which was selected in place of door, is missing, so that door runs itself: add it again, or confirm with eyrie model use door door',
    ])
    expect(listModelAlarms(history, createStore('door', 'door-2'))).toEqual([])
  })
})

describe('history of switches', () => {
  it('outlives the engine, and has the selected model', async () => {
    const options = {
      file: join(createTemporaryFolder(), 'switches.json'),
      log: createLog('test', 'silent'),
    }
    const entry = {
      time: '2026-05-04T08:00:00.000Z',
      from: 'door',
      to: 'door-2',
      client: '127.0.0.1',
    }
    const before = { failures: 0, failedMs: 0, observedMs: 60_000 }
    const watch = { from: 'door', to: 'door-2', since: 0, before }
    await openModelSwitchHistory(options).add('door', entry, watch)

    const history = openModelSwitchHistory(options)
    expect([history.findSelected('door'), history.findSelected('window')]).toEqual([
      'door-2',
      'window',
    ])
    expect([history.list('door'), history.findWatch('door'), history.listSwitched()]).toEqual([
      [entry],
      watch,
      ['door'],
    ])
    await history.endWatch('door')
    expect(openModelSwitchHistory(options).findWatch('door')).toBeUndefined()
  })
})

describe('alarm of a model that was switched back', () => {
  const now = Date.parse('2026-05-04T10:00:00Z')
  const entry = { time: '2026-05-04T08:00:00.000Z', from: 'door-2', to: 'door' }
  const listAlarms = (last: typeof entry & { reason?: string }, at: number) =>
    listModelAlarms(
      { findSelected: () => 'door', listSwitched: () => ['door'], list: () => [last] },
      createStore('door', 'door-2'),
      at,
    )

  it('lasts for a day', () => {
    const last = { ...entry, reason: 'door-2 has failed 3 times' }
    expect(listAlarms(last, now)).toEqual([
      'model door was switched back from door-2 to door: door-2 has failed 3 times. Correct the model, or use it nevertheless: eyrie model use door door-2 --no-revert',
    ])
    expect(listAlarms(last, now + 24 * 60 * 60_000)).toEqual([])
  })

  it('does not follow a switch by a person', () => {
    expect(listAlarms(entry, now)).toEqual([])
  })
})
