import type { AlertAction } from '@eyrie/contract/management/alert'
import type { ClaimRequest } from '@eyrie/contract/management/delivery-queue'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import {
  insertDeliveries,
  readDelivery,
  updateDelivery,
} from '../../../test/fixtures/scheduler/insert-deliveries.ts'
import { delivery } from '../db/schema/index.ts'
import {
  claimDeliveries,
  expireDeliveries,
  findNextDueMs,
  storeResults,
} from './claim-deliveries.ts'

const management = sharedManagement()
const records = sharedRecords(management)
beforeEach(() => management.database.system('test', tx => tx.delete(delivery)))

const webhook = (host: string, more: object = {}) => ({
  action_url: `https://${host}/hook`,
  ...more,
})
const insert = (...actions: AlertAction[]) =>
  insertDeliveries(management.database, records, actions)

const claim = (options: Partial<ClaimRequest> = {}) =>
  management.database.system('test', tx =>
    claimDeliveries(
      tx,
      { limit: 100, lease_s: 60, target_limit: 10, target_limits: {}, ...options },
      address => `token of ${address}`,
    ),
  )
const report = (...results: Parameters<typeof storeResults>[1]) =>
  management.database.system('test', tx => storeResults(tx, results))
const past = () => new Date(Date.now() - 1000)

describe('claiming deliveries', () => {
  it('returns a due delivery once, with its request, until its lease ends', async () => {
    const [deliveryId = ''] = await insert(
      webhook('a.example', { action_subject: '{{alert_name}}!' }),
    )
    expect(await claim()).toMatchObject([
      {
        delivery_id: deliveryId,
        attempt: 1,
        type: 'webhook',
        is_test: false,
        request: { subject: 'alert!' },
      },
    ])
    expect(await claim()).toEqual([])
    await updateDelivery(management.database, deliveryId, { next_attempt_at: past() })
    expect(await claim()).toMatchObject([{ delivery_id: deliveryId, attempt: 2 }])
  })

  it('never returns one delivery to two concurrent claims', async () => {
    await insert(...Array.from({ length: 40 }, (_, i) => webhook(`${i % 4}.example`)))
    const batches = await Promise.all(Array.from({ length: 4 }, () => claim()))
    const ids = batches.flat().map(({ delivery_id }) => delivery_id)
    expect(ids).toHaveLength(40)
    expect(new Set(ids).size).toBe(40)
  })

  it('limits the deliveries to each target, so that none crowds out the others', async () => {
    await insert(
      ...Array.from({ length: 20 }, () => webhook('slow.example')),
      webhook('quick.example'),
    )
    const [first] = await claim({ limit: 1 })
    const slow = first!.target
    const second = await claim({ target_limits: { [slow]: 2 } })
    expect(second.filter(({ target }) => target === slow)).toHaveLength(2)
    expect(second.filter(({ target }) => target !== slow)).toHaveLength(1)
    expect(await claim({ target_limits: { [slow]: 0 } })).toEqual([])
    expect(await claim({ limit: 5 })).toHaveLength(5)
  })

  it('waits for the delay of the action', async () => {
    const [deliveryId = ''] = await insert(webhook('a.example', { action_process_delay: 60 }))
    expect(await claim()).toEqual([])
    const dueMs = await management.database.system('test', findNextDueMs)
    expect(dueMs).toBeGreaterThan(50_000)
    expect(dueMs).toBeLessThanOrEqual(60_000)
    await updateDelivery(management.database, deliveryId, { next_attempt_at: past() })
    expect(await claim()).toHaveLength(1)
  })

  it('treats two addresses of one server as two targets, and the query as a part of neither', async () => {
    await insert(webhook('a.example'), webhook('a.example/b'), {
      action_url: 'https://a.example/hook?token=1',
    })
    const targets = (await claim()).map(({ target }) => target)
    expect(new Set(targets).size).toBe(2)
    expect(targets.join()).not.toContain('example')
  })
})

describe('storing results', () => {
  it('finishes a delivery, or makes it due again after the given time', async () => {
    const [done = '', failed = ''] = await insert(webhook('a.example'), webhook('b.example'))
    await claim()
    await report(
      { delivery_id: done, attempt: 1, state: 'delivered', reason: '200 \0ok' },
      { delivery_id: failed, attempt: 1, state: 'failed', reason: '500', retry_ms: 30_000 },
    )
    expect(await readDelivery(management.database, done)).toMatchObject({
      state: 'delivered',
      reason: '200 ok',
      next_attempt_at: null,
      finished_at: expect.any(Date),
    })
    const row = await readDelivery(management.database, failed)
    expect(row).toMatchObject({ state: 'failed', reason: '500', finished_at: null })
    expect(row.next_attempt_at!.getTime()).toBeGreaterThan(Date.now() + 20_000)
    expect(await claim()).toEqual([])
  })

  it('ignores a result whose attempt is outdated, and one that was stored already', async () => {
    const [deliveryId = ''] = await insert(webhook('a.example'))
    await claim()
    await updateDelivery(management.database, deliveryId, { next_attempt_at: past() })
    await claim()
    await report({ delivery_id: deliveryId, attempt: 1, state: 'dead', reason: 'late' })
    expect(await readDelivery(management.database, deliveryId)).toMatchObject({ state: 'queued' })
    await report({ delivery_id: deliveryId, attempt: 2, state: 'delivered', reason: '200' })
    await report({ delivery_id: deliveryId, attempt: 2, state: 'failed', reason: 'repeated' })
    expect(await readDelivery(management.database, deliveryId)).toMatchObject({
      state: 'delivered',
    })
  })
})

describe('a delivery at the end of its lifetime', () => {
  it('is given up with the last reason, and not claimed any more', async () => {
    const [deliveryId = '', current = ''] = await insert(webhook('a.example'), webhook('b.example'))
    await claim({ target_limit: 1 })
    await report({
      delivery_id: deliveryId,
      attempt: 1,
      state: 'failed',
      reason: '502',
      retry_ms: 0,
    })
    await updateDelivery(management.database, deliveryId, {
      expires_at: past(),
      next_attempt_at: past(),
    })
    expect(await claim()).toEqual([])
    await expireDeliveries(management.database, new AbortController().signal)
    expect(await readDelivery(management.database, deliveryId)).toMatchObject({
      state: 'dead',
      reason: 'gave up after a day: 502',
      next_attempt_at: null,
    })
    expect(await readDelivery(management.database, current)).toMatchObject({ state: 'queued' })
  })
})
