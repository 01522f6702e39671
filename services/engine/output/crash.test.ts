import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createOutputLog } from './output-log.ts'
import { createSequence } from './sequence.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-crash-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('an engine killed at any moment loses no event that it has sent, and uses no number twice', async () => {
  const sent: number[] = []
  for (let life = 1; life <= 5; life++) {
    const publisher = fork(join(import.meta.dirname, 'crash.fixture.ts'), [folder], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const enough = sent.length + 200
    publisher.on('message', seq => {
      sent.push(seq as number)
      if (sent.length === enough) publisher.kill('SIGKILL')
    })
    await once(publisher, 'exit')
  }
  expect(sent.every((seq, index) => index === 0 || seq > sent[index - 1]!)).toBe(true)
  const kept = await keptNumbers()
  const isKept = new Set(kept)
  expect(sent.filter(seq => !isKept.has(seq))).toEqual([])
  const sequence = createSequence(folder)
  await sequence.open()
  expect(await sequence.take(1)).toBeGreaterThan(kept.at(-1)!)
  await sequence.close()
})

async function keptNumbers(): Promise<number[]> {
  const log = createOutputLog({
    folder: join(folder, 'log'),
    bytes: 1 << 30,
    log: createLog('test', 'silent'),
  })
  await log.open()
  const reader = log.reader(0)
  const kept: number[] = []
  while (!reader.isAtEnd()) kept.push(...(await reader.next()).records.map(({ seq }) => seq))
  await log.close()
  return kept
}
