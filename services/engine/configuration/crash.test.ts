import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killEngines } from '../../../test/fixtures/engine/engine-kills.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

test('an engine killed at 20 random moments restores either the old or the new configuration', async () => {
  const seed = randomInt(2 ** 31)
  console.log(`seed ${seed}`)
  const counts = await killEngines({ data: join(createTemporaryFolder(), 'data'), kills: 20, seed })
  expect(counts.old + counts.new).toBe(20)
}, 300_000)
