import { expect, it } from 'vitest'
import {
  decodeQueue,
  readThreads,
  scaleQueue,
  type ThreadTime,
  threadTime,
  timesBySource,
} from './thread-times.ts'

const stat = (name: string, utime: number, stime: number) =>
  `17 (${name}) S 1 17 17 0 -1 4194304 100 0 0 0 ${utime} ${stime} 0 0 20 0 9 0 1000`

it('reads name and time of a thread, whatever its name is', () => {
  expect(threadTime('17', stat('decode-3:src', 12, 3))).toEqual({ tid: '17', name: 'decode-3:src', ms: 150 })
  expect(threadTime('17', stat('a) S (b', 1, 0))).toEqual({ tid: '17', name: 'a) S (b', ms: 10 })
})

it('reads the threads of this process', async () => {
  const threads = await readThreads()
  expect(threads.length).toBeGreaterThan(1)
  expect(threads.find(({ tid }) => tid === String(process.pid))?.ms).toBeGreaterThan(0)
})

/** As Linux keeps it of the pad that a queue's thread pushes. */
const named = (queue: string) => `${queue}:src`.slice(0, 15)
const thread = (tid: number, name: string, ms: number): ThreadTime => ({ tid: String(tid), name, ms })

it('gives every source the time of its own threads since the reading before', () => {
  const before = [
    thread(1, named(decodeQueue(3)), 100),
    thread(2, named(scaleQueue(3, 1)), 50),
    thread(9, 'node', 5000),
  ]
  const now = [
    thread(1, named(decodeQueue(3)), 400),
    thread(2, named(scaleQueue(3, 1)), 80),
    thread(4, named(scaleQueue(3, 12345)), 20),
    thread(5, named(decodeQueue(12)), 70),
    thread(9, 'node', 9000),
  ]
  expect(timesBySource(before, now)).toEqual(
    new Map([
      [3, { decodeMs: 300, scaleMs: 50 }],
      [12, { decodeMs: 70, scaleMs: 0 }],
    ]),
  )
})

it('shares out what libavcodec does in threads of its own', () => {
  const now = [
    thread(1, named(decodeQueue(1)), 30),
    thread(2, named(decodeQueue(2)), 10),
    thread(3, 'av:h264:df0', 400),
  ]
  expect(timesBySource([], now)).toEqual(
    new Map([
      [1, { decodeMs: 330, scaleMs: 0 }],
      [2, { decodeMs: 110, scaleMs: 0 }],
    ]),
  )
})

it('is not misled when the number of a thread is given to another', () => {
  const name = named(decodeQueue(1))
  expect(timesBySource([thread(1, 'other', 900)], [thread(1, name, 40)]).get(1)?.decodeMs).toBe(40)
})
