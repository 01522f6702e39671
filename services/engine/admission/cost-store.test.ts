import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { openCostStore } from './cost-store.ts'

const log = createLog('test', 'silent')

async function measure(file: string, ms: number, machine?: string): Promise<void> {
  const { costs, stop } = await openCostStore(file, log, machine)
  for (let n = 0; n < 100; n++) costs.recordElement('count', '1.0.0', ms)
  await stop()
}

async function known(file: string, machine?: string): Promise<number | undefined> {
  const { costs, stop } = await openCostStore(file, log, machine)
  await stop()
  return costs.elementCost('count', '1.0.0')
}

test('cost store restores costs after a restart and writes only if costs have changed', async () => {
  const folder = createTemporaryFolder()
  const file = join(folder, 'costs.json')
  expect(await known(file)).toBeUndefined()
  expect(existsSync(file)).toBe(false)
  await measure(file, 3)
  expect(await known(file)).toBeCloseTo(3)
  expect(readdirSync(folder)).toEqual(['costs.json'])
})

test('cost store ignores costs of another machine', async () => {
  const file = join(createTemporaryFolder(), 'costs.json')
  await measure(file, 3, 'slow')
  expect(await known(file, 'fast')).toBeUndefined()
  expect(await known(file, 'slow')).toBeCloseTo(3)
})

test.each(['', '{"version":1', '[]', '{"version":2}'])(
  'a file that holds %j is measured anew',
  async text => {
    const file = join(createTemporaryFolder(), 'costs.json')
    writeFileSync(file, text)
    expect(await known(file)).toBeUndefined()
    expect(readFileSync(file, 'utf8')).toBe(text)
    await measure(file, 5)
    expect(await known(file)).toBeCloseTo(5)
  },
)
