import type { OutputMessage } from '@eyrie/contract'
import { describe, expect, it } from 'vitest'
import { advance } from './output-position.ts'

const message = (seq: number, kind = 'event') => ({ seq, kind, data: {} }) as unknown as OutputMessage
const hello = (log_id: string) => ({ kind: 'hello' as const, log_id, oldest: 1, newest: 9 })
const seqs = (taken: ReturnType<typeof advance>) => taken.messages.map(({ message: { seq } }) => seq)

describe('following an output', () => {
  it('takes what is new, and nothing twice', () => {
    const taken = advance({ log_id: 'a', seq: 2 }, [
      hello('a'),
      message(1),
      message(2),
      message(3),
      message(3),
      message(5),
    ])
    expect([seqs(taken), taken.place]).toEqual([[3, 5], { log_id: 'a', seq: 5 }])
  })

  it('begins anew with another log', () => {
    const taken = advance({ log_id: 'a', seq: 100 }, [hello('b'), message(1), message(2)])
    expect([seqs(taken), taken.place]).toEqual([[1, 2], { log_id: 'b', seq: 2 }])
  })

  it('passes over what is not durable, and over what is gone', () => {
    const gap = { kind: 'gap' as const, from: 1, to: 4 }
    const taken = advance({ log_id: null, seq: 0 }, [
      hello('a'),
      gap,
      message(5, 'frame'),
      message(6, 'picture'),
      gap,
    ])
    expect([seqs(taken), taken.place, taken.gaps]).toEqual([[6], { log_id: 'a', seq: 6 }, [gap]])
  })

  it('takes nothing of which it does not know the log', () => {
    expect(() => advance({ log_id: null, seq: 0 }, [message(1)])).toThrow('hello')
  })
})
