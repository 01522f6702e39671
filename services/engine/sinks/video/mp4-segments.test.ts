import { box } from '@eyrie/kit/mp4-boxes'
import { describe, expect, it } from 'vitest'
import { parseBoxes } from './mp4-segments.ts'

const free = box('free', Buffer.from('abcd'))

describe('parseBoxes', () => {
  it('returns the boxes of a sequence in order', () => {
    const boxes = parseBoxes(Buffer.concat([free, box('skip')]))
    expect(boxes.map(({ type, payload }) => [type, payload.toString()])).toEqual([
      ['free', 'abcd'],
      ['skip', ''],
    ])
    expect(boxes[0]?.whole).toEqual(Buffer.from(free))
  })

  it.each([4, 8, 11])(
    'ignores a box of 12 bytes at the end of which only %i bytes exist',
    byteCount => {
      const boxes = parseBoxes(Buffer.concat([box('skip'), free.subarray(0, byteCount)]))
      expect(boxes.map(({ type }) => type)).toEqual(['skip'])
    },
  )

  it('throws an error if the size of a box is smaller than its header', () => {
    const invalid = Buffer.from(free)
    invalid.writeUInt32BE(7)
    expect(() => parseBoxes(invalid)).toThrow('an MP4 box with an invalid size of 7 bytes')
  })
})
