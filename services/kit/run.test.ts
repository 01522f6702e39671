import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
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

test('a service that cannot start on a full disk reports what to do', {
  timeout: 180_000,
}, async () => {
  const env = { EYRIE_DATA: createTemporaryFolder(), EYRIE_MEDIA_PORT: '0' }
  const child = fork(join(import.meta.dirname, 'run.fixture.ts'), ['/dev/full'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  child.disconnect()
  const [log, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit')])
  expect(JSON.parse(log.trim().split('\n').at(-1)!).msg).toBe('the disk is full: free some space')
  expect(code).toBe(1)
})
