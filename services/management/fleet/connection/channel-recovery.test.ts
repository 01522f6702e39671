import { expect, test } from 'vitest'
import { createRecovery } from './channel-recovery.ts'

const create = () => createRecovery({ initialMs: 1000, maxMs: 4000 }, () => 1)

test('a channel that fails is started again at once, then after longer and longer waits', () => {
  const recovery = create()
  const turns = Array.from({ length: 16 }, (_, second) => second).filter(
    second => recovery.due(['a'], second * 1000).length > 0,
  )
  expect(turns).toEqual([0, 1, 3, 7, 11, 15])
})

test('one that has not failed for long begins anew', () => {
  const recovery = create()
  for (const second of [0, 1, 3, 7]) recovery.due(['a'], second * 1000)
  recovery.due([], 700_000)
  expect(recovery.due(['a'], 700_001)).toEqual(['a'])
  expect(recovery.due(['a'], 701_001)).toEqual(['a'])
})

test('each channel has turns of its own', () => {
  const recovery = create()
  recovery.due(['a'], 0)
  expect(recovery.due(['a', 'b'], 500)).toEqual(['b'])
})
