import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { expect, it } from 'vitest'
import { sinkEgress } from '../../../test/fixtures/network/local-egress.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import type { SinkRecord } from '../sinks/sink.ts'
import { type DiscardSink, OpenSinks } from './open-sinks.ts'

const discard = { id: 1, type: 'inf', address: 'inf://nowhere', filter: [] } as const
const context = {
  media: { url: 'http://127.0.0.1:9', token: undefined },
  ring: '/nowhere',
  egress: sinkEgress,
  streamHost: {
    setHostedStreams: () => {},
    isWatched: () => false,
    streamFailure: () => undefined,
    draw: () => {},
  },
  channelShapes: () => [],
  log: createLog('test', 'silent'),
}
const record = { n: 7 } as SinkRecord
const frame = { discontinuity: false, epoch: 0, width: 16, height: 9, ring: undefined }

it('finds the sinks whose filter accepts a source; an empty filter accepts all', async () => {
  const sinks = new OpenSinks(context)
  sinks.apply([
    { ...discard, id: 1, filter: [] },
    { ...discard, id: 2, filter: [8] },
    { ...discard, id: 3, filter: [9] },
  ])
  expect(sinks.findAccepting([1, 2, 3], 8)).toHaveLength(2)
  expect(sinks.findAccepting([3], 8)).toEqual([])
  await sinks.close()
})

it('keeps an unchanged sink open when its filter changes', async () => {
  const sinks = new OpenSinks(context)
  sinks.apply([{ ...discard, filter: [] }])
  const [before] = sinks.findAccepting([1], 8)
  before?.write(record, frame)
  sinks.apply([{ ...discard, filter: [8] }])
  const [after] = sinks.findAccepting([1], 8)
  expect(after).toBe(before)
  expect((after as DiscardSink).written).toBe(1)
  sinks.apply([{ ...discard, address: 'inf://elsewhere', filter: [] }])
  expect(sinks.findAccepting([1], 8)[0]).not.toBe(before)
  await sinks.close()
})

it('writes pending records when it closes', async () => {
  const path = join(createTemporaryFolder(), 'results.jsonl')
  const sinks = new OpenSinks(context)
  sinks.apply([{ id: 1, type: 'file', address: `file://${path}`, filter: [] }])
  sinks.findAccepting([1], 8)[0]?.write(record, frame)
  await sinks.close()
  expect(readFileSync(path, 'utf8')).toBe('{"n":7}\n')
})
