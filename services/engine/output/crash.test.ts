import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSequence } from './message-sequence.ts'
import { createOutputLog } from './output-log.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-crash-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('output loses no sent event and reuses no sequence number after the engine is killed', async () => {
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
  const stored = await readStoredNumbers()
  const storedNumbers = new Set(stored)
  expect(sent.filter(seq => !storedNumbers.has(seq))).toEqual([])
  const sequence = createSequence(folder)
  await sequence.open()
  expect(await sequence.allocate(1)).toBeGreaterThan(stored.at(-1)!)
  await sequence.close()
})

async function readStoredNumbers(): Promise<number[]> {
  const log = createOutputLog({
    folder: join(folder, 'log'),
    maxBytes: 1 << 30,
    log: createLog('test', 'silent'),
  })
  await log.open()
  const reader = log.createReader(0)
  const numbers: number[] = []
  while (!reader.isAtEnd()) numbers.push(...(await reader.next()).records.map(({ seq }) => seq))
  await log.close()
  return numbers
}
