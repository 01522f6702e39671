import { box, u32 } from '@eyrie/kit/mp4-boxes'
import { describe, expect, it } from 'vitest'
import { findBox, getType, readChildren } from './box-reader.ts'

describe('the box reader', () => {
  it('returns the boxes inside a box', () => {
    const parent = box('moov', box('mvhd', u32(1)), box('trak', box('tkhd', u32(2))))
    expect(readChildren(parent).map(getType)).toEqual(['mvhd', 'trak'])
    expect(findBox(parent, ['trak', 'tkhd'])).toEqual(box('tkhd', u32(2)))
  })

  it.each([0, 1, 7])('rejects a box of %i bytes, which is shorter than its header', size => {
    const damaged = box('trak', u32(size), Buffer.from('tkhd'))
    expect(() => readChildren(damaged)).toThrow(
      `the segment is damaged: its trak box contains a box of ${size} bytes`,
    )
  })
})
