import { test } from 'vitest'
import { temporaryFolder } from '../fixtures/temporary.ts'
import { fuzz } from './fuzz.ts'
import { fuzzManagement } from './management.ts'
import { fuzzPictures } from './pictures.ts'
import { fuzzUpgrades } from './upgrades.ts'

test('whatever is asked, every route of every revision answers as the contract says', async () => {
  await fuzz({ requests: 1000 })
}, 60_000)

test('whatever is asked, by whomever, every operation of management answers as the contract says', async () => {
  await fuzzManagement({ requests: 300 })
}, 180_000)

test('whatever is asked of the output, it is a WebSocket that begins with hello, or an error body', async () => {
  await fuzzUpgrades(temporaryFolder(), { connections: 200 })
}, 60_000)

test('whatever picture is asked for, it is as it was kept, or not there', async () => {
  await fuzzPictures(temporaryFolder(), { requests: 500 })
}, 60_000)
