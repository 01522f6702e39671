import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'

test('a service exits when its supervisor disconnects during the start', {
  timeout: 180_000,
}, async () => {
  const env = { EYRIE_DATA: createTemporaryFolder(), EYRIE_MEDIA_PORT: '0' }
  const child = fork(join(import.meta.dirname, 'run.fixture.ts'), { env, stdio: 'ignore' })
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
})
