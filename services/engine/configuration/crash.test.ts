// @module-tag long

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killEngines } from '../../../test/fixtures/engine/engine-kills.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

test('an engine that is killed during an edit restores either the old or the new configuration', async () => {
  const seed = randomInt(2 ** 31)
  console.log(`seed ${seed}`)
  const counts = await killEngines({ data: join(createTemporaryFolder(), 'data'), kills: 10, seed })
  expect(counts.old + counts.new).toBe(10)
}, 300_000)
