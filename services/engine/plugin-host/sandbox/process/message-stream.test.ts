import { describe, expect, it } from 'vitest'
import { encodeMessage, MESSAGE_KIND, MessageDecoder } from './message-stream.ts'

const limits = new Map([
  [MESSAGE_KIND.answer, 100],
  [MESSAGE_KIND.log, 10],
])
const decodeAll = (...chunks: Buffer[]) => {
  const decoder = new MessageDecoder(limits)
  return chunks.flatMap(chunk =>
    [...decoder.decode(chunk)].map(({ kind, body }) => [kind, String(body)]),
  )
}
const answer = encodeMessage(MESSAGE_KIND.answer, { text: 'größer' })
const entry = encodeMessage(MESSAGE_KIND.log, [1])
const expected = [
  [MESSAGE_KIND.answer, '{"text":"größer"}'],
  [MESSAGE_KIND.log, '[1]'],
]

describe('message stream', () => {
  it('decodes messages that arrive together', () => {
    expect(decodeAll(Buffer.concat([answer, entry]))).toEqual(expected)
  })

  it('decodes messages that arrive byte by byte', () => {
    const bytes = [...Buffer.concat([answer, entry])].map(byte => Buffer.of(byte))
    expect(decodeAll(...bytes)).toEqual(expected)
  })

  it.each([
    [Buffer.of(11, 0, 0, 0, MESSAGE_KIND.log), /message of 11 bytes, more than 10/],
    [Buffer.of(0, 0, 0, 0, MESSAGE_KIND.request), /unknown kind 0/],
    [Buffer.of(0, 0, 0, 0, 255), /unknown kind 255/],
  ])('rejects the header %o before the message has arrived', (header, reason) => {
    expect(() => decodeAll(header)).toThrow(reason)
  })
})
