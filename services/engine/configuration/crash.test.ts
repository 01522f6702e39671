import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openConfiguration } from '../../../test/fixtures/configuration.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'

test('an engine killed at any moment has every edit that it has answered, and uses no id twice', async () => {
  const folder = temporaryFolder()
  const answered: number[] = []
  for (let life = 1; life <= 4; life++) {
    const writer = fork(join(import.meta.dirname, 'crash.fixture.ts'), [folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const enough = answered.length + 30
    writer.on('message', id => {
      answered.push(id as number)
      if (answered.length === enough) writer.kill('SIGKILL')
    })
    await once(writer, 'exit')
  }
  expect(new Set(answered).size).toBe(answered.length)
  const { configuration } = await openConfiguration(folder)
  const kept = configuration.sources.list().value.map(({ id }) => id)
  expect(kept).toEqual(expect.arrayContaining(answered))
})
