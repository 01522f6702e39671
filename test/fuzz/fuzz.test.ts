import { test } from 'vitest'
import { fuzz } from './fuzz.ts'

test('whatever is asked, every route of every revision answers as the contract says', async () => {
  await fuzz({ requests: 1000 })
}, 60_000)
