import type { OutputMessage } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { advancePosition } from './output-position.ts'

const message = (seq: number, kind = 'event') =>
  ({ seq, kind, data: {} }) as unknown as OutputMessage
const hello = (logId: string) => ({ kind: 'hello' as const, log_id: logId, oldest: 1, newest: 9 })
const toSeqs = (progress: ReturnType<typeof advancePosition>) =>
  progress.messages.map(({ message: { seq } }) => seq)

describe('advancePosition', () => {
  it('returns new messages once', () => {
    const progress = advancePosition({ log_id: 'a', seq: 2 }, [
      hello('a'),
      message(1),
      message(2),
      message(3),
      message(3),
      message(5),
    ])
    expect([toSeqs(progress), progress.position]).toEqual([[3, 5], { log_id: 'a', seq: 5 }])
  })

  it('starts over with a new log', () => {
    const progress = advancePosition({ log_id: 'a', seq: 100 }, [
      hello('b'),
      message(1),
      message(2),
    ])
    expect([toSeqs(progress), progress.position]).toEqual([[1, 2], { log_id: 'b', seq: 2 }])
  })

  it('skips transient messages and gaps', () => {
    const gap = { kind: 'gap' as const, from: 1, to: 4 }
    const progress = advancePosition({ log_id: null, seq: 0 }, [
      hello('a'),
      gap,
      message(5, 'frame'),
      message(6, 'picture'),
      gap,
    ])
    expect([toSeqs(progress), progress.position, progress.gaps]).toEqual([
      [6],
      { log_id: 'a', seq: 6 },
      [gap],
    ])
  })

  it('rejects messages before the first hello', () => {
    expect(() => advancePosition({ log_id: null, seq: 0 }, [message(1)])).toThrow('hello')
  })
})
