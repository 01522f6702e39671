import { expect, it } from 'vitest'
import {
  attributeTimes,
  decodeQueueName,
  parseThreadTime,
  readThreads,
  scaleQueueName,
  type ThreadTime,
} from './thread-times.ts'

const stat = (name: string, utime: number, stime: number) =>
  `17 (${name}) S 1 17 17 0 -1 4194304 100 0 0 0 ${utime} ${stime} 0 0 20 0 9 0 1000`

it('parses the name and CPU time of a thread, even if the name contains parentheses', () => {
  expect(parseThreadTime('17', stat('decode-3:src', 12, 3))).toEqual({
    tid: '17',
    name: 'decode-3:src',
    ms: 150,
  })
  expect(parseThreadTime('17', stat('a) S (b', 1, 0))).toEqual({
    tid: '17',
    name: 'a) S (b',
    ms: 10,
  })
})

it('reads the threads of this process', async () => {
  const threads = await readThreads()
  expect(threads.length).toBeGreaterThan(1)
  expect(threads.find(({ tid }) => tid === String(process.pid))?.ms).toBeGreaterThan(0)
})

/** Returns the thread name of a queue: its source pad, truncated by Linux. */
const threadName = (queue: string) => `${queue}:src`.slice(0, 15)
const thread = (tid: number, name: string, ms: number): ThreadTime => ({
  tid: String(tid),
  name,
  ms,
})

it('attributes the time since the previous reading to the source of each thread', () => {
  const before = [
    thread(1, threadName(decodeQueueName(3)), 100),
    thread(2, threadName(scaleQueueName(3, 1)), 50),
    thread(9, 'node', 5000),
  ]
  const now = [
    thread(1, threadName(decodeQueueName(3)), 400),
    thread(2, threadName(scaleQueueName(3, 1)), 80),
    thread(4, threadName(scaleQueueName(3, 12345)), 20),
    thread(5, threadName(decodeQueueName(12)), 70),
    thread(9, 'node', 9000),
  ]
  expect(attributeTimes(before, now)).toEqual(
    new Map([
      [3, { decodeMs: 300, scaleMs: 50 }],
      [12, { decodeMs: 70, scaleMs: 0 }],
    ]),
  )
})

it('distributes the time of libavcodec threads in proportion to decoding time', () => {
  const now = [
    thread(1, threadName(decodeQueueName(1)), 30),
    thread(2, threadName(decodeQueueName(2)), 10),
    thread(3, 'av:h264:df0', 400),
  ]
  expect(attributeTimes([], now)).toEqual(
    new Map([
      [1, { decodeMs: 330, scaleMs: 0 }],
      [2, { decodeMs: 110, scaleMs: 0 }],
    ]),
  )
})

it('ignores the earlier time of another thread with the same id', () => {
  const name = threadName(decodeQueueName(1))
  expect(attributeTimes([thread(1, 'other', 900)], [thread(1, name, 40)]).get(1)?.decodeMs).toBe(40)
})
