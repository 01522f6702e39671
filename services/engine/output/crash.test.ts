import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createOutputLog } from './log.ts'
import { createSequence } from './sequence.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-crash-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('an engine killed at any moment loses no event that it has sent, and uses no number twice', async () => {
  const sent = new Set<number>()
  for (let life = 1; life <= 5; life++) {
    const publisher = fork(join(import.meta.dirname, 'crash.fixture.ts'), [folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const before = Math.max(0, ...sent)
    const enough = sent.size + 200
    publisher.on('message', seq => {
      expect(seq).toBeGreaterThan(before)
      sent.add(seq as number)
      if (sent.size === enough) publisher.kill('SIGKILL')
    })
    await once(publisher, 'exit')
  }
  const kept = await keptNumbers()
  expect([...sent].filter(seq => !kept.has(seq))).toEqual([])
  const sequence = createSequence(folder)
  await sequence.open()
  expect(await sequence.take(1)).toBeGreaterThan(Math.max(...kept))
  await sequence.close()
})

async function keptNumbers(): Promise<Set<number>> {
  const log = createOutputLog({
    folder: join(folder, 'log'),
    bytes: 1 << 30,
    log: createLog('test', 'silent'),
  })
  await log.open()
  const reader = log.reader(0)
  const kept = new Set<number>()
  while (!reader.isAtEnd()) for (const { seq } of (await reader.next()).records) kept.add(seq)
  await log.close()
  return kept
}
